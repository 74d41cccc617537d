"""Who may ask the page's server something, and what it never hands out."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from quartet.web.app import STATIC
from quartet.web.security import HEADERS
from tests.webserver import Page, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN, HOST = "{token}", "{host}"
GOOD = {"Host": HOST, "Cookie": "quartet-{port}={token}"}
KNOWN = (
    "/",
    "/api/games",
    "/api/runs",
    "/api/matches",
    "/api/events?topic=runs",
    "/static/page.js",
)
REFUSED = [
    *(({"Host": HOST}, path, 403) for path in KNOWN),
    ({"Host": HOST, "Cookie": "quartet-{port}=guess"}, "/api/games", 403),
    ({"Host": HOST, "Cookie": "quartet-1={token}"}, "/api/games", 403),
    ({"Host": HOST, "Cookie": "\x7f;=;{token}"}, "/api/games", 403),
    ({"Host": HOST, "Authorization": "Bearer "}, "/api/games", 403),
    ({"Host": HOST}, "/api/games?token={token}", 403),
    ({"Host": HOST}, "/?token=guess", 403),
    ({"Host": HOST}, "/?token=", 403),
    (GOOD | {"Host": "evil.example"}, "/api/games", 403),
    (GOOD | {"Host": "evil.example:{port}"}, "/api/games", 403),
    (GOOD | {"Host": "127.0.0.1"}, "/api/games", 403),
    (GOOD | {"Host": "127.0.0.1:1"}, "/api/games", 403),
    (GOOD | {"Host": ""}, "/api/games", 403),
    (GOOD | {"Origin": "http://evil.example"}, "/api/games", 403),
    (GOOD | {"Origin": "null"}, "/api/games", 403),
    (GOOD | {"Origin": "http://127.0.0.1:1"}, "/api/games", 403),
    (GOOD | {"Origin": "https://{host}"}, "/api/games", 403),
    (GOOD | {"Sec-Fetch-Site": "cross-site"}, "/api/games", 403),
    (GOOD | {"Sec-Fetch-Site": "same-site"}, "/api/games", 403),
    (GOOD, "/static/../app.py", 404),
    (GOOD, "/static/..%2fapp.py", 404),
    (GOOD, "/static/%2e%2e/app.py", 404),
    (GOOD, "/static/%2E%2E%2Fapp.py", 404),
    (GOOD, "/static/..\\app.py", 404),
    (GOOD, "/static/..%5capp.py", 404),
    (GOOD, "/static//etc/passwd", 404),
    (GOOD, "/static/%252e%252e/app.py", 404),
    (GOOD, "/static/", 404),
    (GOOD, "/static/page.js%00", 404),
    (GOOD, "/etc/passwd", 404),
    (GOOD, "//etc/passwd", 404),
    (GOOD, "/../../etc/passwd", 404),
    (GOOD, "/api/runs/..", 404),
    (GOOD, "/api/runs/..%2f..%2fetc", 404),
    (GOOD, "/api/runs/nothing", 404),
    (GOOD, "/api/view?run=..%2f..%2fetc&number=1", 404),
    (GOOD, "/api/view?log=..%2fapp.py", 404),
    (GOOD, "/api/text?match=..", 404),
    (GOOD, "/api/text", 400),
    (GOOD, "/api/nothing", 404),
]
WRONG = [
    ("/api/matches", b"{}", "application/json", 400),
    ("/api/matches", b'{"game":"ataxx","seats":[]}', "text/plain", 400),
    ("/api/matches", b'{"game":"ataxx","seats":[]}', "application/x-www-form-urlencoded", 400),
    ("/api/matches", b"[" * 200_000, "application/json", 400),
    ("/api/matches", b" " * 300_000, "application/json", 413),
    ("/api/logs", b"x", "application/json", 400),
    ("/api/logs", b"x" * (2 * 2**20 + 1), "application/octet-stream", 413),
    ("/api/logs", b"/etc/passwd", "application/octet-stream", 422),
    ("/api/position", b'{"game":"/etc/passwd"}', "application/json", 422),
    ("/api/position", b'{"game":"ataxx","position":"/etc/passwd"}', "application/json", 422),
    ("/api/position", b'{"game":"ataxx","options":{"opening":"x"}}', "application/json", 400),
    ("/api/analyses", b'{"from":{"game":"ataxx"},"player":"net:/etc"}', "application/json", 422),
    ("/api/reviews", b'{"from":{"game":"ataxx"}}', "application/json", 400),
    ("/api/position", b'{"game":"ataxx","seed":-1}', "application/json", 400),
    ("/api/position", b'{"game":"ataxx","seed":9999999999999999999999}', "application/json", 400),
    ("/api/position", b'{"game":"ataxx","step":"x"}', "application/json", 400),
    ("/api/position", b'{"game":"ataxx","moves":[1]}', "application/json", 400),
    ("/api/analyses", b'{"from":{"game":"ataxx"},"nodes":1e99}', "application/json", 400),
    ("/api/analyses", b'{"from":{"game":"ataxx"},"lines":0}', "application/json", 400),
]
ENGINE: dict[str, Any] = {"kind": "engine", "name": "greedy"}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with serving("--runs", str(STATIC), "--player", "mine=./mine") as found:
        yield found


def ask(
    page: Page, method: str, path: str, headers: dict[str, str], data: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """A request as it is written here, which no client would send."""

    def filled(text: str) -> str:
        for name, value in (("token", page.token), ("port", page.port), ("host", host)):
            text = text.replace("{" + name + "}", str(value))
        return text

    host = f"127.0.0.1:{page.port}"
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)
    try:
        connection.putrequest(method, filled(path), skip_host=True, skip_accept_encoding=True)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            connection.putheader(name, filled(value))
        connection.endheaders(data)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


@pytest.mark.parametrize(("headers", "path", "code"), REFUSED)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_what_is_refused(
    page: Page, method: str, headers: dict[str, str], path: str, code: int
) -> None:
    status, _, said = ask(page, method, path, headers)
    # what is not there by GET is not there at all; 405: by no other method
    assert status == code if method == "GET" or code == 403 else status in {400, 403, 404, 405}
    assert said.count(b"\n") <= 1
    assert b"root:" not in said
    assert b"Traceback" not in said


@pytest.mark.parametrize(("path", "data", "kind", "code"), WRONG)
def test_what_is_not_understood(page: Page, path: str, data: bytes, kind: str, code: int) -> None:
    status, _, said = ask(page, "POST", path, GOOD | {"Content-Type": kind}, data)
    assert status == code, said
    assert set(json.loads(said)) == {"error"}
    assert "\n" not in json.loads(said)["error"]


def test_the_token_becomes_a_cookie(page: Page) -> None:
    status, headers, _ = ask(page, "GET", "/?token={token}", {"Host": HOST})
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    for site in ("same-origin", "none"):
        status, headers, _ = ask(page, "GET", "/", GOOD | {"Sec-Fetch-Site": site})
        assert status == 200
    status, _, said = ask(page, "GET", "/api/games", GOOD | {"Origin": "http://{host}"})
    assert status == 200
    assert json.loads(said)["programs"] == ["mine"]


@pytest.mark.parametrize("path", ["/", "/api/games", "/nothing"])
def test_strict_headers_everywhere(page: Page, path: str) -> None:
    for headers in (GOOD, {"Host": HOST}):
        _, found, _ = ask(page, "GET", path, headers)
        assert {name: found.get(name.lower()) for name in HEADERS} == HEADERS
        assert not any(name.startswith("access-control") for name in found)


def test_nothing_is_started_that_was_not_named(page: Page) -> None:
    for seat in (
        {"kind": "program", "name": "touch /tmp/x"},
        {"kind": "program", "name": "./mine"},
        {"kind": "program", "name": "mine", "command": "touch /tmp/x"},
        {"kind": "engine", "name": "uai:touch"},
        {"kind": "engine", "name": "bot:weights=/etc/passwd"},
        {"kind": "engine", "name": "bot", "options": {"weights": "/etc/passwd"}},
        {"kind": "engine", "name": "bot", "options": {"nothing": 1}},
        {"kind": "engine", "name": "bot", "nodes": -1},
        {"kind": "engine", "name": "bot", "ms": 1e9},
        {"kind": "nobody"},
        {"kind": "else"},
    ):
        found = page.client.post("/api/matches", json={"game": "ataxx", "seats": [seat, ENGINE]})
        assert found.status_code in {400, 422}, seat
        assert "\n" not in found.json()["error"]
        assert found.json()["error"]


def test_it_listens_to_this_machine_alone(page: Page) -> None:
    others = {
        str(info[4][0])
        for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        if not str(info[4][0]).startswith("127.")
    }
    for address in others:
        with pytest.raises(OSError):
            socket.create_connection((address, page.port), timeout=2).close()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_ctrl_c_ends_it_without_a_word(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "quartet", "serve", "--runs", str(tmp_path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as server:
        assert server.stdout is not None
        page = Page(server, server.stdout.readline().strip())
        match = page.match("ataxx", {"kind": "person"}, ENGINE)
        with page.follow(f"match/{match}", "runs") as tab:
            assert tab.until("state", number=2)[1] == {**tab.named("state")[1], "runs": []}
            os.killpg(server.pid, signal.SIGINT)  # as a terminal does
            said, complaints = server.communicate(timeout=60)
        page.client.close()
    assert (server.returncode, said, complaints.strip()) == (130, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--player", "mine"], "NAME=COMMAND"),
        (["--player", "a=x", "--player", "a=y"], "taken"),
        (["--player", "human=x"], "taken"),
        (["--host", "no.such.host.invalid"], "cannot listen"),
        (["--port", "99999"], "--port"),
        (["--runs", "nowhere"], "nowhere"),
    ],
)
def test_a_bad_command_line_is_one_line(arguments: list[str], words: str) -> None:
    command = [sys.executable, "-m", "quartet", "serve", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
