"""Log lines name their submission, hide secrets, and are JSON where that is asked for."""

from __future__ import annotations

import json
import logging

from core.log_context import about, begin, current, note
from server.logs import JsonLines, Redacting


def record(message: str, error: BaseException | None = None, **extra: str) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    made = logging.LogRecord("aqa.worker", logging.INFO, "f.py", 1, message, None, info)
    made.__dict__.update(extra)
    return made


def test_a_line_names_what_it_is_about() -> None:
    begin()  # whatever an earlier test in this thread was about
    plain = Redacting("%(levelname)s %(message)s")
    with about("abc123"):
        assert plain.format(record("done")) == "INFO done [abc123]"
    assert plain.format(record("done")) == "INFO done"
    assert plain.format(record("queued", subject="def456")) == "INFO queued [def456]"


def test_the_fields_of_a_request_hold_no_secret() -> None:
    told = json.loads(JsonLines().format(record("x", path="/hub/lfs/ticket.of.mine", method="PUT")))
    assert (told["path"], told["method"]) == ("/hub/lfs/[secret]", "PUT")


def test_a_team_and_the_submission_of_a_part_are_named() -> None:
    plain = Redacting("%(message)s")
    begin("", 4)
    note("0123456789ab")
    assert plain.format(record("done")) == "done [0123456789ab team 4]"
    begin()
    assert plain.format(record("done")) == "done"
    assert (current().subject, current().team) == ("", None)
    for subject in ("0123456789ab:00:ff", "0123456789ab@7", "0123456789ab@7:00:ff"):
        assert plain.format(record("done", subject=subject)) == "done [0123456789ab]"
    assert plain.format(record("done", subject="1:2")) == "done [1:2]"


def test_json_lines_hold_subject_and_traceback_on_one_line() -> None:
    try:
        raise ValueError("broken at redis://:geheim@host")
    except ValueError as error:
        with about("abc123"):
            line = JsonLines().format(record("token aqa_0123456789abc\nfailed", error))
    told = json.loads(line)
    assert "\n" not in line
    assert (told["subject"], told["level"], told["logger"]) == ("abc123", "INFO", "aqa.worker")
    assert told["message"] == "token aqa_[secret]\nfailed"
    assert "ValueError" in told["traceback"]
    assert "geheim" not in line
