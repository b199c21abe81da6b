"""`dpstats serve`: the curator over HTTP."""

from __future__ import annotations

import argparse
import socket
import tempfile
import threading
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from dpstats.foundations.errors import InvalidParameterError, MissingExtraError

HOST, PORT = "127.0.0.1", 8000
_DESCRIPTION = """\
Serve a catalog of protected tables: pages for owners, analysts, auditors and the public, and the same as JSON for programs.

  dpstats serve --demo           an invented table and three invented people; nothing is kept
  dpstats serve catalog.toml     your own; see docs/service.md
"""


def describe() -> str:
    """What the command does."""
    return _DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("settings", metavar="CATALOG", nargs="?", help="the settings of a catalog, such as catalog.toml")
    parser.add_argument("--demo", action="store_true", help="serve an invented table, from a folder that is removed afterwards")
    parser.add_argument("--host", default=HOST, help=f"the address to listen on; {HOST} by default: this machine only")
    parser.add_argument("--port", type=int, default=PORT, help=f"{PORT} by default")
    parser.add_argument("--no-browser", action="store_true", help="do not open the page")


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    if arguments.demo == bool(arguments.settings):
        raise InvalidParameterError("name the settings of a catalog, such as catalog.toml, or say --demo.")
    try:
        from dpstats.web.demo import make_demo
        from dpstats.web.server import has_people, run_server
        from dpstats.web.settings import read_settings
    except ImportError as error:
        raise MissingExtraError.about(f"the service needs {error.name}", "web") from None
    _check_port(arguments.host, arguments.port)
    if not arguments.demo:
        path = Path(arguments.settings)
        catalog, web = read_settings(path)
        if not has_people(catalog, web):
            print(f"Nobody may sign in yet: dpstats people {path} --add NAME --role owner admin")
        _announce(web.origin, arguments)
        run_server(path, host=arguments.host, port=arguments.port, workers=web.workers)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        origin = f"http://{arguments.host}:{arguments.port}"
        demo = make_demo(Path(folder), origin)
        print("An invented table, and three invented people who may sign in:")
        for name, password in demo.passwords.items():
            print(f"  {name:<6} {password}")
        _announce(origin, arguments)
        run_server(demo.settings, host=arguments.host, port=arguments.port, workers=1)
    return 0


def _check_port(host: str, port: int) -> None:
    """Raise where nothing can be served there."""
    try:
        with socket.create_server((host, port)):
            pass
    except (OSError, OverflowError):
        raise InvalidParameterError(f"{host}:{port} cannot be served, and may be taken: choose another --port.") from None


def _announce(origin: str, arguments: argparse.Namespace) -> None:
    print(f"Serving {origin} - stop with Ctrl-C.", flush=True)
    if not arguments.no_browser:
        threading.Thread(target=_open, args=(f"http://{arguments.host}:{arguments.port}",), daemon=True).start()


def _open(address: str) -> None:
    """Open the page as soon as it is there."""
    for _ in range(100):
        with suppress(URLError, OSError):
            urlopen(f"{address}/health", timeout=1).close()
            webbrowser.open(f"{address}/login")
            return
        time.sleep(0.1)
