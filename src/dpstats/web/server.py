"""The server: processes that answer requests, by uvicorn."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from dpstats.foundations.errors import MissingExtraError
from dpstats.web.app import SETTINGS
from dpstats.web.logs import LOGGER

GRACE_SECONDS = 30
"""How long a server that is told to stop waits for what is paid for."""
SWITCH_SECONDS = 0.001
"""After which a thread lets another one run: a reply that is ready must not wait for what others are computing."""


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
