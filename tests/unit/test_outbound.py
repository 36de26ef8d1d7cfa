"""Requests to addresses that users name go to the public internet only, straight there, and within a time."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from core.errors import InvalidInput, Unavailable
from server import outbound
from server.outbound import check_url, post, resolve
from tests.hook_receiver import receiving

PRIVATE = [
    "127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "0.0.0.0", "10.0.0.8", "172.16.0.1", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "224.0.0.1", "localhost", "::1", "::", "fe80::1", "fc00::1", "::ffff:127.0.0.1",
    "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1",
]  # fmt: skip


@pytest.mark.parametrize("host", PRIVATE)
def test_private_addresses_are_refused_however_they_are_written(host: str) -> None:
    with pytest.raises(Unavailable, match="private network|not known"):
        resolve(host, 443, private=False)
    with pytest.raises(InvalidInput):
        check_url(f"https://[{host}]/x" if ":" in host else f"https://{host}/x", private=False)


@pytest.mark.parametrize("host", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_allowed(host: str) -> None:
    assert resolve(host, 443, private=False).endswith(host.removeprefix("::ffff:"))


@pytest.mark.parametrize(
    "url",
    [
        "http://8.8.8.8/", "ftp://8.8.8.8/", "file:///etc/passwd", "gopher://8.8.8.8/", "//8.8.8.8/", "8.8.8.8", "",
        "https://user:secret@8.8.8.8/", "https://", "https://8.8.8.8:99999/", "https://8.8.8.8/a b",
        "https://8.8.8.8/\r\nX: y", "https://ex\u0430mple.org/", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_only_plain_https_addresses_are_taken(url: str) -> None:
    with pytest.raises(InvalidInput):
        check_url(url, private=False)


def test_a_host_with_one_private_address_among_public_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(outbound.socket, "getaddrinfo", lambda *_, **__: entries)
    with pytest.raises(Unavailable, match="private network"):
        resolve("both.example", 443, private=False)


def test_a_name_that_changes_after_the_check_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: public when it is stored, private when the message is sent."""
    with receiving() as receiver:
        port = int(receiver.url.rsplit(":", 1)[1])
        answers = iter(["8.8.8.8", "127.0.0.1"])
        monkeypatch.setattr(
            outbound.socket,
            "getaddrinfo",
            lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))],
        )
        url = check_url(f"https://turns.example:{port}/", private=False)
        with pytest.raises(Unavailable, match="private network"):
            post(url.replace("https", "http"), b"{}", {}, private=False)
        assert receiver.got == []


def test_the_environments_proxy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver, receiving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert post(receiver.url, b"{}", {}, private=True) == 200
        assert (len(receiver.got), len(proxy.got)) == (1, 0)


def test_redirects_are_not_followed() -> None:
    with receiving() as receiver, receiving() as inner:
        receiver.answers, receiver.location = [302], f"{inner.url}/secret"
        assert post(receiver.url, b"{}", {}, private=True) == 302
        assert (len(receiver.got), inner.got) == (1, [])


def test_a_server_that_drips_is_given_up_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    for letter in b"HTTP/1.1 200 OK\r\n" * 200:
                        connection.sendall(bytes([letter]))
                        time.sleep(0.1)
                except OSError:
                    pass

        threading.Thread(target=drip, daemon=True).start()
        begun = time.monotonic()
        with pytest.raises(Unavailable, match="did not take it"):
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, private=True, seconds=0.6)
        assert time.monotonic() - begun < 3
