"""Routes from plain functions: they take typed payloads, and return what becomes JSON."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.errors import QuartetError
from quartet.judge.turn import UNREADABLE
from quartet.web.errors import Refused, answer_to

MAX_BODY = 2**18
"""Bytes of a request without a log."""


def endpoint(
    method: str,
    path: str,
    handler: Callable[..., Any],
    payload: type[msgspec.Struct | Request] | None = None,
    status: int = 200,
    *,
    guests: bool = False,
) -> Route:
    """Return a route.

    Args:
        method: HTTP method.
        path: Path with the names of parameters.
        handler: Takes the parameters by name, and the payload if there is one. A coroutine
            function runs in the event loop, any other one in a thread. What it raises becomes
            the answer; None becomes {}.
        payload: Type of the query of a GET and of the body of any other request; Request if the
            handler reads the request itself.
        status: HTTP status of the answer.
        guests: True if a link to a seat opens the route, too; the handler then checks the seat.
    """

    async def answer(request: Request) -> Response:
        try:
            if request.scope["links"] is not None and not guests:
                raise Refused("a link to a seat does not allow this", 403)
            given = [] if payload is None else [await read(request, payload)]
            if iscoroutinefunction(handler):
                found = await handler(*given, **request.path_params)
            else:
                found = await run_in_threadpool(handler, *given, **request.path_params)
        except QuartetError as error:
            return json(*answer_to(error))
        if isinstance(found, Response):
            return found
        return json({} if found is None else found, status)

    return Route(path, answer, methods=[method])


def json(data: object, status: int = 200) -> Response:
    """Return an answer."""
    return Response(msgspec.json.encode(data), status, media_type="application/json")


async def body(request: Request, limit: int, kind: str) -> bytes:
    """Return the body of a request. Raises Refused.

    Args:
        request: The request.
        limit: Bytes that are accepted.
        kind: Required content type.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != kind:
        raise Refused(f"the content type must be {kind}", 400)
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > limit:
            raise Refused(f"more than {limit} bytes are not accepted", 413)
    return bytes(data)


async def read(request: Request, kind: type[Any]) -> Any:
    """Return the payload of a request; the request itself if `kind` is Request. Raises Refused."""
    if kind is Request:
        return request
    try:
        if request.method == "GET":
            given = {key: value for key, value in request.query_params.items() if value}
            return msgspec.convert(given, kind, strict=False)
        return msgspec.json.decode(await body(request, MAX_BODY, "application/json"), type=kind)
    except UNREADABLE as error:
        raise Refused(str(error) or "the request cannot be read", 400) from error
