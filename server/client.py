"""A client of the API, for the command line."""

from __future__ import annotations

import secrets
import socket
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx

from core import errors
from core.errors import AqaError, InvalidInput, Refused, Unavailable
from core.records import Place
from submissions.intake import SystemCard

_ATTEMPTS = 3
_NAMES = {"name": "system"}
_LARGE = 16 * 2**20
"""Files above so many bytes go in pieces, so that a break costs one piece."""


class Client:
    """Speaks API v1 at `url`; every error of the service comes back as the `AqaError` it was."""

    def __init__(self, url: str, token: str = "", transport: httpx.BaseTransport | None = None) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(f"{url!r} is not an address.", "It begins with http:// or https://.")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=120, transport=transport
        )

    def submit(self, file: Path, benchmark: str, card: SystemCard, publish: bool) -> dict[str, Any]:
        """Send an entry, again where the answer was lost: it still makes one submission. Returns where it stands."""
        if file.stat().st_size > _LARGE:
            return self._submit_in_pieces(file, benchmark, card, publish)
        fields = {
            "benchmark": benchmark,
            "system": card.name,
            "architecture": card.architecture,
            "supervision": card.supervision,
            "description": card.description,
            "links": list(card.links),
            "uses_autoais": str(card.uses_autoais).lower(),
            "publish": str(publish).lower(),
        } | ({} if card.size is None else {"size": str(card.size)})
        key = _new_key()
        files = {"file": (file.name, file.read_bytes())}
        return self._call("POST", "/submissions", _ATTEMPTS, data=fields, files=files, headers=key)

    def submit_reference(self, reference: str, benchmark: str, card: SystemCard, publish: bool) -> dict[str, Any]:
        """Have the service fetch a file from the Hub and take it as an entry; said again, it still makes one."""
        said = _said(card) | {"reference": reference, "benchmark": benchmark, "publish": publish}
        return self._call("POST", "/references", _ATTEMPTS, json=said, headers=_new_key())

    def validate_reference(self, reference: str, benchmark: str) -> dict[str, Any]:
        """What reading a file on the Hub would find."""
        return self._call("POST", "/references/validate", json={"reference": reference, "benchmark": benchmark})

    def _submit_in_pieces(self, file: Path, benchmark: str, card: SystemCard, publish: bool) -> dict[str, Any]:
        announced = {"name": file.name, "size": file.stat().st_size}
        upload = self._call("POST", "/uploads", json=announced)
        path = f"/uploads/{upload['id']}"
        with file.open("rb") as stream:
            while (start := upload["received"]) < announced["size"]:
                stream.seek(start)
                piece = stream.read(upload["chunk_bytes"])
                where = {"Content-Range": f"bytes {start}-{start + len(piece) - 1}/{announced['size']}"}
                upload = self._call("PUT", path, _ATTEMPTS, content=piece, headers=where)
        said = _said(card) | {"benchmark": benchmark, "publish": publish}
        try:
            return self._call("POST", f"{path}/finish", _ATTEMPTS, json=said)
        except Refused:
            self._call("DELETE", path)
            raise

    def run_model(
        self, reference: str, benchmark: str, card: SystemCard, decoding: dict[str, Any], seed: int, publish: bool
    ) -> dict[str, Any]:
        """Have a model of the Hub run. Raises `Refused` with what stands against it."""
        said = _said(card) | {"benchmark": benchmark, "publish": publish}
        return self._call("POST", "/models", json=said | {"reference": reference, "decoding": decoding, "seed": seed})

    def status(self, submission: str) -> dict[str, Any]:
        """Where a submission stands. Raises `NotFound`."""
        return self._call("GET", f"/submissions/{submission}")

    def scores(self, submission: str) -> dict[str, Any]:
        """A submission's scores. Raises `Conflict` while there are none."""
        return self._call("GET", f"/submissions/{submission}/scores")

    def _call(self, method: str, path: str, attempts: int = 1, **sent: Any) -> dict[str, Any]:
        try:
            response = self._http.request(method, path, **sent)
        except httpx.HTTPError as error:
            if attempts > 1:
                return self._call(method, path, attempts - 1, **sent)
            raise _unreachable(self._http.base_url, error) from error
        if response.is_success:
            answer: dict[str, Any] = response.json() if response.content else {}
            return answer
        raise _error(response)


def _said(card: SystemCard) -> dict[str, Any]:
    return {_NAMES.get(key, key): value for key, value in asdict(card).items()}


def _new_key() -> dict[str, str]:
    return {"Idempotency-Key": secrets.token_hex(16)}


def _unreachable(address: httpx.URL, error: httpx.HTTPError) -> Unavailable:
    """Why there was no answer, without the operating system's numbers."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    where = f"{address.host}:{address.port}" if address.port else address.host
    if isinstance(error, httpx.TimeoutException):
        return Unavailable(f"{where} did not answer in time.", "Try again; if it stays so, look at the service.")
    if isinstance(cause, socket.gaierror):
        return Unavailable(f"There is no machine called {address.host!r}.", "Check the address.")
    if isinstance(error, httpx.ConnectError) and "CERTIFICATE" in str(error):
        return Unavailable(f"The certificate of {where} is not trusted.", "Check the address and the service's TLS.")
    if isinstance(error, httpx.ConnectError):
        refused = isinstance(cause, ConnectionRefusedError) or "refused" in str(error)
        told = "refused the connection" if refused else "cannot be reached"
        return Unavailable(f"{where} {told}.", "Check the address and that the service runs there.")
    return Unavailable(f"The connection to {where} broke off.", "Try again; what was sent counts once.")


def _error(response: httpx.Response) -> AqaError:
    try:
        body = response.json()["error"]
        places = tuple(Place(p["row"], p["kind"], p["message"], p["excerpt"]) for p in body["places"])
        kind = _KINDS.get(body["code"], AqaError)
        return kind(body["message"], body["hint"], places)
    except (ValueError, KeyError, TypeError):
        return Unavailable(
            f"The answer was {response.status_code} {response.reason_phrase}, not one of this service.",
            "Check that the address is the service's, without a path.",
        )


_KINDS = {kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AqaError)}
