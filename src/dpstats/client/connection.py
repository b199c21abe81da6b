"""The connection to a service: plain values there and back, and the service's complaints as the errors that they are there.

A question that breaks off is sent once more with the same key, under which the service gives the same reply and charges once.
What the service has refused, or was too slow for, is not tried again.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from dpstats.foundations import errors
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, MissingExtraError, ServiceError
from dpstats.foundations.version import __version__

if TYPE_CHECKING:
    import httpx

PATIENCE = 90.0
"""Seconds that a reply may take beside twice its public time: somebody else may have asked the same just before."""
CONNECTING = 10.0
PAUSE = 0.2
"""Seconds before a request that broke off is made again."""
AT_HOME = ("127.0.0.1", "::1", "localhost")
"""Hosts to which a token may go without TLS, because it does not leave the machine."""


class Connection:
    """A service, as whoever has a token may use it. Threads may share it."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        self.url = _checked_url(url)
        self._httpx = _load_httpx()
        self._client: httpx.Client = self._httpx.Client(
            base_url=self.url,
            headers={"authorization": f"Bearer {token}", "user-agent": f"dpstats/{__version__}"},
            transport=transport,
            verify=self.url.startswith("https:"),  # without TLS there are no certificates to load, which takes a while
            trust_env=urlsplit(self.url).hostname not in AT_HOME,
        )

    def get(self, *path: str, **query: object) -> dict[str, Any]:
        """What stands on a page."""
        return self._values(lambda: self._fetch(f"{_joined(path)}.json", query))

    def text(self, *path: str, **query: object) -> str:
        """What is in a file of plain text."""
        return self._reply(lambda: self._fetch(_joined(path), query)).text

    def post(self, *path: str, body: Mapping[str, object], seconds: float = 0, again: bool = True) -> dict[str, Any]:
        """What an action says that it has done; `seconds` is how long its reply takes for certain, `again` whether the key keeps
        the service from doing it twice.
        """
        key = {"idempotency-key": secrets.token_urlsafe(24)}
        limits = self._limits(seconds)
        return self._values(lambda: self._client.post(_joined(path), json=body, headers=key, timeout=limits), again)

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def _fetch(self, path: str, query: Mapping[str, object]) -> httpx.Response:
        given = {name: str(value) for name, value in query.items() if value is not None}
        return self._client.get(path, params=given, timeout=self._limits(0))

    def _limits(self, seconds: float) -> httpx.Timeout:
        limits: httpx.Timeout = self._httpx.Timeout(PATIENCE + 2 * seconds, connect=CONNECTING)
        return limits

    def _values(self, send: Callable[[], httpx.Response], again: bool = True) -> dict[str, Any]:
        values = _json(self._reply(send, again))
        if not isinstance(values, dict):
            raise ServiceError(f"{self.url} does not reply as a service of dpstats does: check the address.")
        return values

    def _reply(self, send: Callable[[], httpx.Response], again: bool = True) -> httpx.Response:
        reply = self._sent(send, again)
        if reply.status_code != 200:
            raise self._complaint(reply)
        return reply

    def _sent(self, send: Callable[[], httpx.Response], again: bool) -> httpx.Response:
        try:
            try:
                return send()
            except (self._httpx.NetworkError, self._httpx.RemoteProtocolError):
                if not again:
                    raise
                time.sleep(PAUSE)
                return send()
        except self._httpx.TimeoutException:
            raise ServiceError(
                f"{self.url} did not reply in time. A question may have been paid for: history() says so, and asking it again "
                "gives the answer that was paid for."
            ) from None
        except (self._httpx.TransportError, self._httpx.InvalidURL):
            raise ServiceError(
                f"{self.url} cannot be reached: check the address and your network. A question that was sent may have been paid "
                "for: history() says so."
            ) from None

    def _complaint(self, reply: httpx.Response) -> DpstatsError:
        """The error that the service has raised, or one about a reply that is none of a service."""
        said = _json(reply)
        error = said.get("error") if isinstance(said, dict) else None
        if isinstance(error, dict):
            kind = vars(errors).get(str(error.get("kind")))
            known = isinstance(kind, type) and issubclass(kind, DpstatsError)
            made: DpstatsError = (kind if known else ServiceError)(str(error.get("message")))  # type: ignore[misc]
            return made
        return ServiceError(f"{self.url} replied with status {reply.status_code}, in words of no service of dpstats.")


@contextmanager
def understood() -> Iterator[None]:
    """A reply that lacks what it should have comes from a service of another version."""
    try:
        yield
    except DpstatsError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ServiceError(
            "the service replies in a form that this version of dpstats does not know: use the version that it uses. A question "
            "may have been paid for, and its answer is kept there."
        ) from None


def _json(reply: httpx.Response) -> Any:
    try:
        return reply.json()
    except ValueError:
        return None


def _joined(path: tuple[str, ...]) -> str:
    return "".join(f"/{quote(part, safe='')}" for part in path)


def _checked_url(url: object) -> str:
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise InvalidParameterError("url must be the address of a service, such as 'https://stats.example.org'.")
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in AT_HOME:
        raise InvalidParameterError("the address of a service must begin with https://: whoever listens would have your token.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidParameterError("the address of a service has no name, password, query or fragment in it.")
    return url.rstrip("/")


def _load_httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise MissingExtraError.about("a connection to a service needs httpx", "web") from None
    return httpx
