"""Requests that the page's server refuses, and files that it never returns."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from starlette.responses import Response

from quartet.web.app import MAX_TOPICS, STATIC
from quartet.web.security import HEADERS, Guard
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
    # no wait of a match is longer than the system allows
    ("/api/matches", b'{"game":"ataxx","seats":[],"clock":1e18}', "application/json", 400),
    ("/api/matches", b'{"game":"ataxx","seats":[],"delay":1000000000001}', "application/json", 400),
]
ENGINE: dict[str, Any] = {"kind": "engine", "name": "greedy"}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with serving("--runs", str(STATIC), "--player", "mine=./mine") as found:
        yield found


def ask(
    page: Page, method: str, path: str, headers: dict[str, str], data: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Send a request unchanged, also if no client would; return status, headers and body."""

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
    # a path that GET does not find is not found by other methods; 405: only by GET
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


@pytest.mark.parametrize(
    ("port", "host", "status"),
    [
        *((80, name, 204) for name in ("localhost", "127.0.0.1", "[::1]", "127.0.0.1:80")),
        *((port, name, 403) for port in (80, 8000) for name in ("evil.example", "localhost:8080")),
        (8000, "localhost", 403),
    ],
)
def test_browsers_omit_port_80(port: int, host: str, status: int) -> None:
    guard = Guard(Response(status_code=204), "token", "127.0.0.1", port)
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "query_string": b"",
        "headers": [(b"host", host.encode()), (b"authorization", b"Bearer token")],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("there is no body")

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    assert sent[0]["status"] == status


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


def test_a_stream_has_room_for_all_boards_of_a_view(page: Page) -> None:
    """The page shows up to 12 running games at a time."""
    with page.follow(*(f"match/{n}" for n in range(12))) as tab:
        assert len(tab.until("gone", number=12)) == 12
    found = page.get("/api/events", 400, topic=[f"match/{n}" for n in range(MAX_TOPICS + 1)])
    assert str(MAX_TOPICS) in found["error"]


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


GUESTS = [
    ("GET", "/api/games", b"", 200),
    ("GET", "/api/matches/{own}", b"", 200),
    ("GET", "/api/events?topic=runs", b"", 403),
    ("GET", "/api/events?topic=match/{own}&topic=match/{other}", b"", 403),
    ("GET", "/api/games/ataxx", b"", 403),
    ("GET", "/api/matches/{other}", b"", 403),
    ("GET", "/api/matches/{own}/links", b"", 403),
    ("GET", "/api/text?match={own}", b"", 200),
    ("GET", "/api/text?match={other}", b"", 403),
    ("GET", "/api/text?run=x&number=1", b"", 403),
    ("GET", "/api/text?match={other}&log={own}", b"", 403),
    ("GET", "/api/view?match={own}", b"", 403),
    ("GET", "/api/files?match={own}&step=1", b"", 403),
    ("GET", "/api/runs", b"", 403),
    ("POST", "/api/position", b'{"game":"ataxx"}', 403),
    ("POST", "/api/lenses", b'{"game":"ataxx"}', 403),
    ("POST", "/api/compose", b'{"game":"ataxx"}', 403),
    ("POST", "/api/openings", b'{"from":{"match":"{own}"}}', 403),
    ("POST", "/api/logs", b"x", 403),
    ("POST", "/api/matches", b'{"game":"ataxx","seats":[]}', 403),
    ("DELETE", "/api/matches/{own}", b"", 403),
    ("POST", "/api/matches/{own}/rematch", b"{}", 403),
    *(("POST", "/api/matches/{own}/" + act, b'{"step":0}', 403) for act in ("undo", "hint")),
    ("POST", "/api/matches/{own}/pace", b'{"pace":"pause"}', 403),
    ("POST", "/api/matches/{own}/move", b'{"step":0,"text":"1 1 2 2"}', 409),
    ("POST", "/api/matches/{own}/resign", b'{"seat":0}', 409),
    ("POST", "/api/matches/{other}/move", b'{"step":0,"text":"1 1 2 2"}', 403),
    ("POST", "/api/matches/{other}/resign", b"{}", 403),
    ("POST", "/api/reviews", b'{"from":{"match":"{own}"}}', 403),
    ("GET", "/api/reviews/x", b"", 403),
    ("DELETE", "/api/reviews/x", b"", 403),
    ("POST", "/api/analyses", b'{"from":{"game":"ataxx"}}', 403),
    ("DELETE", "/api/analyses/x", b"", 403),
]


def test_a_link_opens_one_seat(page: Page) -> None:
    """Its holder sees the match and plays there, and can do nothing else."""
    person, guest = {"kind": "person"}, {"kind": "guest", "link": "chosen"}
    own, other = page.match("ataxx", person, guest), page.match("ataxx", guest, guest)
    assert page.asking(own)["seat"] == 0
    (found,) = page.get(f"/api/matches/{own}/links")["links"]
    key = found["link"].partition("?token=")[2]
    assert found["seat"] == 1
    assert len(key) > 20, "the server chooses the key"
    status, headers, _ = ask(page, "GET", f"/?token={key}", {"Host": HOST})
    assert (status, headers["location"]) == (303, f"/#/match/{own}")
    entry = {"Host": HOST, "Sec-Fetch-Site": "cross-site"}
    status, again, said = ask(page, "GET", f"/?token={key}", entry)
    assert (status, again["set-cookie"]) == (200, headers["set-cookie"])
    assert key.encode() not in said
    status, headers, _ = ask(page, "GET", f"/?token={key}", GOOD)
    assert "set-cookie" not in headers, "the token of the server remains"
    as_guest = {"Host": HOST, "Cookie": again["set-cookie"].partition(";")[0]}
    kind = {"Content-Type": "application/json"}

    def named(text: str) -> str:
        return text.replace("{own}", own).replace("{other}", other)

    for method, path, data, code in GUESTS:
        body = named(data.decode()).encode()
        status, _, said = ask(page, method, named(path), as_guest | kind, body)
        assert status == code, (method, path, said)
    status, _, said = ask(page, "GET", "/api/games", as_guest)
    shown = json.loads(said)
    assert (shown["guest"], shown["programs"], shown["runs"]) == (True, [], False)
    status, _, said = ask(page, "GET", "/api/matches", as_guest)
    assert [line["id"] for line in json.loads(said)["matches"]] == [own]
    state = page.state(own)
    assert (state["mine"], state["guests"], state["asking"]["seat"]) == ([0], [1], 0)
    assert key not in json.dumps(state)
    page.post(f"/api/matches/{own}/move", {"step": 0, "text": "1 1 2 2"})
    assert page.asking(own)["seat"] == 1
    status, _, _ = ask(
        page, "POST", f"/api/matches/{own}/move", as_guest | kind, b'{"step":1,"text":"1 7 2 6"}'
    )
    assert status == 200
    page.delete(f"/api/matches/{own}")
    for seat in ({"Cookie": "quartet-{port}-seats=chosen"}, {"Cookie": "quartet-{port}-seats=."}):
        assert ask(page, "GET", "/api/games", {"Host": HOST} | seat)[0] == 403


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
