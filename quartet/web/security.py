"""Who may ask the server something: whoever has its token, from its own address, for what was handed
out."""

from __future__ import annotations

import ipaddress
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
OWN_SITES = {"same-origin", "none", ""}
"""What a browser says of who has asked for a page of ours: we ourselves, or the person."""
LOCAL = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """Refuses, before anything else looks at a request, what must not be answered."""

    def __init__(self, app: ASGIApp, token: str, host: str, port: int) -> None:
        """`host` and `port` are what the server listens to."""
        self._app, self._token = app, token
        self._cookie = f"quartet-{port}"
        self._port = port
        self._any_address = host in {"0.0.0.0", "::"}  # noqa: S104  (it is compared)
        is_ours = self._any_address or is_local(host)
        self._names = {bracketed(host), *(LOCAL if is_ours else ())}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await PlainTextResponse(refusal[1] + "\n", refusal[0])(scope, receive, guarded)
            return
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and given:
            response = RedirectResponse("/", 303)
            response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
            await response(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Status and reason; None where the request may pass."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 403, "this is not the address of the server"
        origins = headers.getlist("origin")
        if any(origin != f"{scope['scheme']}://{host}" for origin in origins):
            return 403, "requests of other pages are refused"
        if headers.get("sec-fetch-site", "") not in OWN_SITES:
            return 403, "requests of other pages are refused"
        raw = scope.get("raw_path", b"").lower()
        if ".." in scope["path"] or b"%2e" in raw or b"%2f" in raw or b"\\" in raw or b"%5c" in raw:
            return 404, "there is no such page"
        if not scope["query_string"].isascii():
            return 400, "a query is ASCII"
        if not self._has_token(scope, headers):
            return 403, "open the address that `quartet serve` has printed, with its token"
        return None

    def _is_ours(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        if port != str(self._port):
            return False
        return name in self._names or (self._any_address and is_address(name))

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        given = [headers.get("authorization", "").removeprefix("Bearer ")]
        if scope["path"] == "/" and scope["method"] == "GET":
            given += parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        if self._cookie in cookies:
            given.append(cookies[self._cookie].value)
        return any(secrets.compare_digest(one.encode(), self._token.encode()) for one in given)


def is_local(host: str) -> bool:
    """Whether a name of a listening address means this machine alone."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(name: str) -> bool:
    """Whether a name is a number: no name of somebody's can then lead here."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def bracketed(host: str) -> str:
    """A host as addresses have it."""
    return f"[{host}]" if ":" in host else host
