"""Guards: headers that every reply has, by which browsers do nothing but what the service needs."""

from __future__ import annotations

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
_CACHE = b"cache-control"
_KEEP_NOTHING = (_CACHE, b"no-store")
TLS_ONLY = "max-age=31536000"


class Guards:
    """Puts the headers on."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self._app = app
        headers = {**HEADERS, **({"strict-transport-security": TLS_ONLY} if is_secure else {})}
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, with the headers on its reply."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = message["headers"]
                is_kept = any(name == _CACHE for name, _ in said)
                message = {**message, "headers": [*said, *self._headers, *([] if is_kept else [_KEEP_NOTHING])]}
            await send(message)

        await self._app(scope, receive, guarded)
