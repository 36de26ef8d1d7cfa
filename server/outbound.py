"""Requests to addresses that users name: to public addresses only, without redirects, within a time."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpcore

from core.errors import InvalidInput, Unavailable

_SECONDS = 10.0
_FAULTS = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def check_url(url: str, private: bool) -> str:
    """The address itself. Raises `InvalidInput` for one that no request may go to.

    With `private`, plain HTTP and addresses of private networks are allowed.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        url.encode("ascii")
    except ValueError:
        raise InvalidInput(f"{url[:80]!r} is not a web address.", "Write https://HOST/PATH.") from None
    allowed = ("https", "http") if private else ("https",)
    if parts.scheme not in allowed or not host or parts.username is not None or not url.isprintable() or " " in url:
        raise InvalidInput(f"{url[:80]!r} is not an address to send to.", "Write https://HOST/PATH, without a user.")
    try:
        resolve(host, port or (443 if parts.scheme == "https" else 80), private)
    except Unavailable as error:
        raise InvalidInput(error.message, error.hint) from None
    return url


def resolve(host: str, port: int, private: bool) -> str:
    """An IP address of the host. Raises `Unavailable` if there is none, or any of them is not public."""
    try:
        found = [entry[4][0] for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        raise Unavailable(f"The host {host[:80]!r} is not known.", "Check its name.") from None
    for address in found:
        if not private and not _public(str(address)):
            raise Unavailable(f"{host[:80]!r} leads into a private network.", "Name a host of the public internet.")
    return str(found[0])


def post(url: str, body: bytes, headers: Mapping[str, str], private: bool, seconds: float = _SECONDS) -> int:
    """Send a body; returns the status. The answer's body is not read, and a redirect is an answer like another.

    The host is looked up once, checked, and that very address is connected to. Raises `Unavailable`.
    """
    limits = {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
    backend, sent = _Guarded(private, time.monotonic() + seconds), list(headers.items())
    try:
        with (
            httpcore.ConnectionPool(network_backend=backend, max_connections=1) as pool,
            pool.stream("POST", url, headers=sent, content=body, extensions={"timeout": limits}) as response,
        ):
            return int(response.status)
    except _FAULTS as fault:
        raise Unavailable(f"{urlsplit(url).hostname} did not take it: {fault or type(fault).__name__}.") from None


def _public(text: str) -> bool:
    address: Any = ipaddress.ip_address(text.split("%")[0])
    if address.version == 6:
        if address in _NAT64:
            address = ipaddress.ip_address(int(address) & 0xFFFFFFFF)
        else:
            address = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address
    return bool(address.is_global and not address.is_multicast)


class _Guarded(httpcore.SyncBackend):
    """Looks hosts up itself, so that what is checked is what is connected to; gives up at the deadline."""

    def __init__(self, private: bool, deadline: float) -> None:
        self._private = private
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        address = resolve(host, port, self._private)
        inner = super().connect_tcp(address, port, _left(self._deadline), local_address, socket_options)
        return _Deadlined(inner, self._deadline)


class _Deadlined(httpcore.NetworkStream):
    """A connection on which no step may last beyond the deadline, however slowly the other side drips."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left(self._deadline))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Deadlined(self._inner.start_tls(ssl_context, server_hostname, _left(self._deadline)), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("it took too long")
    return left
