"""The API's routes for human ratings: a maintainer's whole round, and nobody else's."""

from __future__ import annotations

import csv
import io
import json

import pytest
from flask.testing import FlaskClient

from server.bootstrap import Services
from server.worker import Worker
from tests.ratings_files import HEADER, TRIPLES, ratings_csv, table
from tests.web_client import API, bearer, submit

BASE = f"{API}/ratings"


@pytest.fixture
def house(services: Services) -> dict[str, str]:
    return bearer(services, "house", "maintainer")


def file(data: bytes, **more: str) -> dict[str, object]:
    return {"file": (io.BytesIO(data), "ratings.csv"), "benchmark": "small", **more}


def test_preview_apply_agreement_export_revoke(client: FlaskClient, services: Services, house: dict[str, str]) -> None:
    at = submit(client, bearer(services), publish="true")
    data = ratings_csv({"oslo": "YYN", "roma": "NNN", "nile": "YYY"})
    seen = client.post(f"{BASE}/preview", headers=house, data=file(data)).json
    assert (seen["accepted"], seen["ratings"], seen["new"], seen["submissions"]) == (True, 9, 9, [at])
    assert client.get(BASE, headers=house).json == {"batches": []}

    made = client.post(BASE, headers=house, data=file(data, note="first", synthetic="true"))
    assert made.status_code == 201
    batch = made.json
    assert (batch["author"], batch["note"], batch["synthetic"], batch["state"]) == ("house", "first", True, "applied")
    Worker(services).run_until_idle()
    ais = client.get(f"{API}/submissions/{at}/scores", headers=bearer(services)).json["metrics"]["ais"]
    assert (ais["value"], ais["details"]["synthetic"], ais["details"]["votes"]) == (0.5, True, 9)
    assert client.post(BASE, headers=house, data=file(data)).status_code == 409

    agreement = client.get(f"{BASE}/{batch['id']}/agreement", headers=house).json
    assert (agreement["overall"]["items"], agreement["overall"]["ties"]) == (3, 0)
    exported = client.get(f"{BASE}/export?benchmark=small", headers=house)
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert [(row["answer"], row["human_rating"]) for row in rows] == [("Oslo", "Y"), ("Roma", "N"), ("6,650 km", "Y")]
    assert "small-labels.csv" in exported.headers["Content-Disposition"]

    assert client.post(f"{BASE}/{batch['id']}/revoke", headers=house).json["revoked_by"] == "house"
    assert client.get(f"{BASE}?benchmark=small", headers=house).json["batches"][0]["state"] == "revoked"
    assert client.get(f"{BASE}?benchmark=other", headers=house).status_code == 404
    for path in ("7/revoke", "x/revoke", "7/close"):
        assert client.post(f"{BASE}/{path}", headers=house).status_code == 404, path


def test_a_bad_file_is_refused_with_its_places(client: FlaskClient, house: dict[str, str]) -> None:
    bad = table(HEADER, [(*TRIPLES["oslo"], "a", "Y", "Y"), (*TRIPLES["oslo"], "a", "Y", "N")])
    refused = client.post(BASE, headers=house, data=file(bad))
    assert (refused.status_code, refused.json["error"]["places"][0]["kind"]) == (422, "rated_twice")
    seen = client.post(f"{BASE}/preview", headers=house, data=file(bad))
    assert (seen.status_code, seen.json["accepted"], seen.json["report"]["counts"]["rated_twice"]) == (200, False, 1)
    assert client.post(BASE, headers=house, data=file(bad, typo="1")).status_code == 400


def test_raters_are_left_out_and_taken_back(client: FlaskClient, house: dict[str, str]) -> None:
    client.post(BASE, headers=house, data=file(ratings_csv({"oslo": "YN"})))
    sent = {"benchmark": "small", "rater": "rater-2", "reason": "slow"}
    assert client.post(f"{BASE}/raters/leave-out", headers=house, json=sent).json["reason"] == "slow"
    assert client.post(f"{BASE}/raters/leave-out", headers=house, json=sent).status_code == 409
    exported = client.get(f"{BASE}/export?benchmark=small&what=labels&kind=jsonl", headers=house).text
    assert (json.loads(exported)["raters"], json.loads(exported)["human_rating"]) == (1, "Y")
    back = {"benchmark": "small", "rater": "rater-2"}
    assert client.post(f"{BASE}/raters/take-back", headers=house, json=back).json["taken_back_by"] == "house"
    [row] = client.get(f"{BASE}/raters?benchmark=small", headers=house).json["raters"]
    assert (row["rater"], row["left_out_by"], row["taken_back_by"]) == ("rater-2", "house", "house")


def test_a_sheet_is_drawn_downloaded_opened_and_closed(
    client: FlaskClient, services: Services, house: dict[str, str]
) -> None:
    submit(client, bearer(services), publish="true")
    Worker(services).run_until_idle()
    drawn = client.post(f"{BASE}/sheets", headers=house, json={"benchmark": "small", "method": "stratified", "size": 3})
    assert drawn.status_code == 201, drawn.text
    assert (drawn.json["population"], drawn.json["author"]) == (3, "house")
    at = drawn.json["id"]
    sheet = client.get(f"{BASE}/sheets/{at}/download", headers=house)
    assert len(list(csv.DictReader(io.StringIO(sheet.text)))) == 3
    opened = client.post(f"{BASE}/sheets/{at}/open", headers=house).json
    assert (opened["state"], opened["sheet"]) == ("open", at)
    assert client.post(f"{BASE}/{opened['id']}/close", headers=house).json["state"] == "applied"
    assert client.get(f"{BASE}/sheets/9/download", headers=house).status_code == 404
