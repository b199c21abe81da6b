"""Guards: headers that every reply has, by which browsers do nothing but what the service needs."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "x-frame-options": "DENY",
}
KEEP_NOTHING = "no-store"
TLS_ONLY = "max-age=31536000"


class Guards:
    """Puts the headers on."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self._app = app
        self._headers = {**HEADERS, **({"strict-transport-security": TLS_ONLY} if is_secure else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, with the headers on its reply."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                headers.setdefault("cache-control", KEEP_NOTHING)
            await send(message)

        await self._app(scope, receive, guarded)
