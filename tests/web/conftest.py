"""A service to test: the demo's catalog behind a real server in a thread, and clients that are signed in."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from dpstats.curator.catalog import catalog as catalogs
from dpstats.curator.catalog import policed_desk
from dpstats.curator.catalog.catalog import Catalog
from dpstats.web.app import build_app
from dpstats.web.demo import Demo, make_demo
from dpstats.web.office import Office
from dpstats.web.people import passwords
from dpstats.web.settings import WebSettings, read_settings
from tests.curator.catalog.conftest import PoolHere


@dataclass
class Service:
    """A service that runs, and its people's passwords."""

    office: Office
    demo: Demo
    origin: str

    def client(self, **headers: str) -> httpx.Client:
        """A client of nobody, whose requests come from the service's own pages."""
        return _client(self.origin, {"origin": self.origin, **headers})

    def visit(self, name: str) -> httpx.Client:
        """A client of one of the demo's people, as a browser has it."""
        with self.client() as client:
            reply = client.post("/login", data={"name": name, "password": self.demo.passwords[name]})
            assert reply.status_code == 303
            cookies = dict(client.cookies)
        signed_in = self.client()
        signed_in.cookies.update(cookies)
        return signed_in

    def token(self, name: str, **scope: Any) -> str:
        """A token of one of the demo's people."""
        from dpstats.web.people.people import read_scope

        return self.office.people.new_token(name, "a test", read_scope({"actions": ["read", "ask", "own"], **scope}))

    def with_token(self, name: str, **scope: Any) -> httpx.Client:
        """A client of one of the demo's people, as a program has it."""
        return _client(self.origin, {"authorization": f"Bearer {self.token(name, **scope)}"})


def _client(origin: str, headers: dict[str, str]) -> httpx.Client:
    """A client; certificates, which take a while to load, are not needed here."""
    return httpx.Client(base_url=origin, headers=headers, timeout=30, trust_env=False, verify=False)


@contextmanager
def served(folder: Path, *, at_once: bool = True, **settings: Any) -> Iterator[Service]:
    """A service in a thread, with its own demo in a folder; its replies leave at once, or at their public times."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(catalogs, "JobPool", PoolHere)
        if at_once:
            patched.setattr(policed_desk, "reply_seconds", lambda *_, **__: 0.0)
        cheap = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
        patched.setattr(passwords, "_hasher", lambda: cheap)
        server = uvicorn.Server(
            uvicorn.Config(_nothing, host="127.0.0.1", port=0, log_level="error", lifespan="on", server_header=False)
        )
        sockets = [server.config.bind_socket()]
        origin = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
        demo = make_demo(folder, origin)
        catalog, web = read_settings(demo.settings)
        office = Office(Catalog(catalog), WebSettings(**{**vars(web), **settings}))
        server.config.app = build_app(office)
        thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield Service(office, demo, origin)
        finally:
            server.should_exit = True
            thread.join()


async def _nothing(*_: object) -> None:
    """Stands in for the application until its address is known."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for the tests of a module; what they change stays changed."""
    with served(tmp_path_factory.mktemp("service")) as running:
        yield running
