"""The server: processes that answer requests, by uvicorn."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from dpstats.curator.catalog.catalog import Catalog
from dpstats.curator.catalog.settings import CatalogSettings
from dpstats.foundations.errors import InvalidParameterError, MissingExtraError
from dpstats.web.app import SETTINGS
from dpstats.web.logs import LOGGER
from dpstats.web.office import Office
from dpstats.web.settings import WebSettings

GRACE_SECONDS = 30
"""How long a server that is told to stop waits for what is paid for."""
SWITCH_SECONDS = 0.001
"""After which a thread lets another one run: a reply that is ready must not wait for what others are computing."""


def has_people(catalog: CatalogSettings, web: WebSettings) -> bool:
    """Whether anybody may sign in; raises where the service could not be opened, before any process tries to."""
    for root in catalog.roots:
        if not Path(root).is_dir():
            raise InvalidParameterError(f"there is no folder {root}, which the catalog names among its roots: make it first.")
    with Office(Catalog(catalog), web) as office:
        return bool(office.people.all())


def run_server(settings: Path, *, host: str, port: int, workers: int) -> None:
    """Serve until somebody stops it."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError.about("the service needs uvicorn", "web") from None
    os.environ[SETTINGS] = str(settings.absolute())
    uvicorn.run(
        "dpstats.web.server:logged_app",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        access_log=False,  # it would write addresses with their values
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def logged_app() -> object:
    """The service of one process, whose log goes to its standard error, a line for each request."""
    from dpstats.web.app import app_from_settings

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOGGER.handlers[:] = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    sys.setswitchinterval(SWITCH_SECONDS)
    return app_from_settings()
