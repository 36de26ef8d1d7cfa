"""How a route tells the OpenAPI document about its errors and its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask import APIBlueprint

SECURITY_SCHEMES = {"token": {"type": "http", "scheme": "bearer", "description": "A team's token."}}

_MEANINGS = {
    302: "The file is at the address that `Location` names, for five minutes.",
    400: "What was sent cannot be used as it is.",
    401: "No token, or one that is wrong, expired or revoked.",
    403: "The token's role does not allow this.",
    404: "There is no such thing, or it is not yours to see.",
    409: "It clashes with what is there.",
    413: "A limit on size was passed.",
    422: "The file was read and refused whole; `places` names the rows.",
    429: "Too many requests, or the submissions of the last 24 hours are used up.",
    503: "Something that the service stands on cannot be reached.",
}


_JSON = {"type": "object"}
_BYTES = {"type": "string", "format": "binary"}


def answers(
    bp: APIBlueprint, *codes: int, token: bool = True, files: dict[str, str] | None = None
) -> Callable[[Any], Any]:
    """Document a route's errors, and its files (media type → what it is) where it answers with one.

    Every route can also meet a bad token (401), a limit on requests (429) and a database that is away (503).
    """
    described: dict[int, Any] = {code: _MEANINGS[code] for code in sorted({401, 429, 503, *codes})}
    if files is not None:
        content = {kind: {"schema": _JSON if kind == "application/json" else _BYTES} for kind in files}
        described[200] = {"description": "; ".join(files.values()), "content": content}
    decorator: Callable[[Any], Any] = bp.doc(responses=described, security="token" if token else None)
    return decorator


def add_bodies(spec: dict[Any, Any] | str) -> dict[Any, Any] | str:
    """Complete the OpenAPI document: bodies that are bytes cannot be told by a schema."""
    assert isinstance(spec, dict)
    content = {"application/octet-stream": {"schema": _BYTES}}
    spec["paths"]["/api/v1/uploads/{upload_id}"]["put"]["requestBody"] = {"required": True, "content": content}
    return spec
