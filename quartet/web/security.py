"""The guard before all routes: it refuses requests without the token or from other sites."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
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
"""Values of Sec-Fetch-Site for requests of the page itself, of the user, and of other clients."""
LOCAL = ("127.0.0.1", "localhost", "[::1]")
MAX_LINKS = 8
"""Links to seats that one browser can use."""


class Guard:
    """Answers requests that must not reach the routes.

    The routes find in the scope, as `links`, the keys of seats that a request has, and None if it
    has the token, which opens everything.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        host: str,
        port: int,
        match_of: Callable[[str], str | None] = lambda key: None,  # noqa: ARG005
    ) -> None:
        """Make a guard.

        Args:
            app: The routes.
            token: The server's token.
            host: Address that the server listens to.
            port: Its port.
            match_of: Returns the id of the match with a seat that a key opens, None if no seat
                has this key.
        """
        self._app, self._token, self._match_of = app, token, match_of
        self._cookie = f"quartet-{port}"
        self._port = port
        self._any_address = host in {"0.0.0.0", "::"}  # noqa: S104  (it is compared)
        has_local_names = self._any_address or is_local(host)
        self._names = {bracketed(host), *(LOCAL if has_local_names else ())}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        connection = HTTPConnection(scope)
        headers = connection.headers
        given = [key for key in connection.query_params.getlist("token") if key]
        entering = given if (scope["path"], scope["method"]) == ("/", "GET") else []
        kept = self._kept(connection)
        known = [*entering, *kept]
        is_full = any(map(self._is_token, known))
        links = [key for key in dict.fromkeys(known) if self._match_of(key)][:MAX_LINKS]
        app = self._refusal(scope, headers, may_enter=is_full or bool(links), entering=entering)
        if app is None and scope["path"] == "/" and given:
            app = self._entry(headers, entering, links, keeps_token=any(map(self._is_token, kept)))
        scope["links"] = None if is_full else links
        await (app or self._app)(scope, receive, guarded)

    def _entry(
        self, headers: Headers, given: list[str], links: list[str], *, keeps_token: bool
    ) -> Response:
        """Return the answer to an address with a token: a cookie, and the address without it."""
        match = next(filter(None, map(self._match_of, given)), None)
        place = f"/#/match/{match}" if match else "/"
        if headers.get("sec-fetch-site", "") in OWN_SITES:
            answer: Response = RedirectResponse(place, 303)
        else:  # a browser would send no cookie after a redirection from another site
            answer = HTMLResponse(f'<meta http-equiv="refresh" content="0;url={place}">')
        if any(map(self._is_token, given)):
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        elif not keeps_token:
            keys = ".".join(links)
            answer.set_cookie(self._cookie + "-seats", keys, httponly=True, samesite="strict")
        return answer

    def _refusal(
        self, scope: Scope, headers: Headers, *, may_enter: bool, entering: list[str]
    ) -> Response | None:
        """Return the answer to a request that is refused, None if it may pass."""
        host, raw = headers.get("host", ""), scope.get("raw_path", b"").lower()
        own = f"{scope['scheme']}://{host}"
        is_foreign = any(origin != own for origin in headers.getlist("origin"))
        is_outside = any(part in raw for part in (b"%2e", b"%2f", b"\\", b"%5c"))
        rules = (
            (not self._has_name(host), 403, "this is not the address of the server"),
            (is_foreign, 403, "requests of other sites are refused"),
            (
                headers.get("sec-fetch-site", "") not in OWN_SITES and not entering,
                403,
                "requests of other sites are refused",
            ),
            (is_outside or ".." in scope["path"], 404, "there is no such page"),
            (not scope["query_string"].isascii(), 400, "the query must be ASCII"),
            (
                not may_enter,
                403,
                "open the address that `quartet serve` has printed, with its token",
            ),
        )
        refused = ((status, text) for applies, status, text in rules if applies)
        return next((PlainTextResponse(text + "\n", status) for status, text in refused), None)

    def _has_name(self, host: str) -> bool:
        """Return True if a Host header names this server. Browsers omit port 80."""
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host, "80"
        if port != str(self._port):
            return False
        return name in self._names or (self._any_address and is_address(name))

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())

    def _kept(self, connection: HTTPConnection) -> list[str]:
        """Return the token and keys in the headers of a request, unchecked."""
        cookies = connection.cookies
        bearer = connection.headers.get("authorization", "").removeprefix("Bearer ")
        seats = cookies.get(self._cookie + "-seats", "").split(".")
        return [bearer, cookies.get(self._cookie, ""), *seats]


def is_local(host: str) -> bool:
    """Return True if only this machine can reach a listening address."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(name: str) -> bool:
    """Return True for an IP address; unlike a name, no DNS server can redirect it."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def bracketed(host: str) -> str:
    """Return a host as it is written in addresses."""
    return f"[{host}]" if ":" in host else host


def shared_base(host: str, port: int) -> str:
    """Return the address of this server for other machines, if they can reach it."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104  (it is compared)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing; chooses this machine's address
                host = str(probe.getsockname()[0])
            except OSError:  # no network
                host = "127.0.0.1"
    return f"http://{bracketed(host)}:{port}"
