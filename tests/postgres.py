"""One real Postgres server for a whole run of the tests; each test takes a schema of its own.

The server is the one in the package pgserver, or else one that is installed on the machine. Servers refuse to run as root: root
starts it as the user nobody. It listens on a socket in a temporary folder and on no network. Where there is no server, tests are
skipped with the reason, or fail if the environment variable DPSTATS_NO_SKIP is set; from Python 3.13 on, for which there is no
pgserver, they are always skipped.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

_SCHEMAS = itertools.count(1)
_SERVANT = "nobody"


class Server:
    """A Postgres server in a folder of its own; `binaries` holds its programs."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.as_user: dict[str, Any] = {}
        if os.name == "posix" and os.geteuid() == 0:
            shutil.chown(folder, _SERVANT)
            self.as_user = {"user": _SERVANT, "group": os.stat(folder).st_gid, "extra_groups": []}
        self.binaries = binaries if self._can_run(binaries) else self._copied(binaries)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder))}"

    def start(self) -> None:
        """Make the database and start to serve it."""
        self._run("initdb", "--pgdata", self.data, "--auth=trust", "--encoding=utf8", "--username=postgres", "--no-sync")
        options = (
            f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c max_connections=200 "
            "-c autovacuum=off"  # which is a transaction like others: a state would end whenever it comes
        )
        self._run("pg_ctl", "--pgdata", self.data, "--log", self.folder / "log", "--wait", "--options", options, "start")

    def follow(self, url: str) -> None:
        """Copy another server's databases, and start to repeat, as a standby, whatever is written there."""
        self._run(
            "pg_basebackup", "--pgdata", self.data, "--dbname", url, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"
        )
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c max_connections=200"
        self._run("pg_ctl", "--pgdata", self.data, "--log", self.folder / "log", "--wait", "--options", options, "start")

    def stop(self) -> None:
        """Stop it; whatever is still connected is cut off."""
        self._run("pg_ctl", "--pgdata", self.data, "--wait", "--mode=immediate", "stop")

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.binaries / program), *map(str, arguments)]
        with (self.folder / "output").open("wb") as output:  # a pipe would stay open as long as the server does
            subprocess.run(command, check=True, stdout=output, stderr=output, cwd=self.folder, timeout=600, **self.as_user)

    def _can_run(self, binaries: Path) -> bool:
        command = [str(binaries / "postgres"), "--version"]
        try:
            return not subprocess.run(command, check=False, capture_output=True, cwd=self.folder, **self.as_user).returncode
        except OSError:
            return False

    def _copied(self, binaries: Path) -> Path:
        """The programs in a place where another user may run them."""
        shutil.copytree(binaries.parent, self.folder / "package" / "pginstall")
        libraries = binaries.parents[2] / "pgserver.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, self.folder / libraries.name)
        return self.folder / "package" / "pginstall" / binaries.name


def binaries() -> Path | None:
    """The folder with a server's programs, or None."""
    package = find_spec("pgserver")
    folders = [Path(place) / "pginstall" / "bin" for place in (package.submodule_search_locations or [])] if package else []
    if found := shutil.which("initdb"):
        folders.append(Path(found).resolve().parent)
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextmanager
def running_server(programs: Path, following: str | None = None) -> Iterator[Server]:
    """A server that runs for as long as this lasts; `programs` is a folder that `binaries` finds.

    With the URL of another server in `following` it is a standby of that one.
    """
    with tempfile.TemporaryDirectory(prefix="dpstats-pg-", ignore_cleanup_errors=True) as folder:
        server = Server(programs, Path(folder))
        server.start() if following is None else server.follow(following)
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a running server, as its superuser; make a schema or a database of your own in it."""
    found = binaries()
    if found is None or find_spec("psycopg") is None or sys.platform == "win32":
        reason = "no Postgres: pip install pgserver (Python 3.12 or older) or install a server, and pip install 'psycopg[binary]'"
        if os.environ.get("DPSTATS_NO_SKIP") and sys.version_info < (3, 13):
            pytest.fail(reason)
        pytest.skip(reason)
    with running_server(found) as server:
        yield server.url


@pytest.fixture
def postgres_schema_url(postgres_url: str) -> str:
    """The URL of an empty schema that only this test uses."""
    return url_of_new_schema(postgres_url)


def url_of_new_schema(url: str) -> str:
    """The URL of a schema that nobody has used yet."""
    import psycopg

    schema = f"test_{os.getpid()}_{next(_SCHEMAS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{url}&options={quote(f'-csearch_path={schema}')}"
