"""Quiet: Spark's own logs say nothing while a job of ours runs, because the errors of tasks quote data."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")  # pyspark's, for errors with their context
_WORDY = ("ALL", "TRACE", "DEBUG", "INFO")
_lock = threading.Lock()
_running = 0
_level = ""


@contextmanager
def silenced(session: SparkSession) -> Iterator[None]:
    """No log of the driver's, in Python or Java, for as long as somebody is in here.

    If a job fails in here, Java's log stays silent: tasks that are still on their way would tell of it afterwards.
    """
    global _running, _level
    context = _context(session)
    with _lock:
        if not _running:
            _level = _silence(context)
        _running += 1
    try:
        yield
    except BaseException:
        with _lock:
            _level = ""
        raise
    finally:
        with _lock:
            _running -= 1
            if not _running:
                _restore(context, _level)


def map_quietly(frame: DataFrame, function: Callable[[Iterator[Any]], Iterator[Any]], schema: StructType | str) -> DataFrame:
    """Spark's `mapInArrow` without its opinions on the versions of other libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.mapInArrow(function, schema)


def _context(session: SparkSession) -> Any:
    """What the session has of Java; None for one of Spark Connect, whose log is elsewhere."""
    with suppress(Exception):
        return session.sparkContext
    return None


def _silence(context: Any) -> str:
    """Turn the logs off; the level that Java's had."""
    for logger in _loggers():
        logger.disabled = True
    with suppress(Exception):
        level = str(context._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel())
        context.setLogLevel("OFF")
        return level
    return ""


def _restore(context: Any, level: str) -> None:
    for logger in _loggers():
        logger.disabled = False
    if level:
        with suppress(Exception):  # the JVM may have gone
            context.setLogLevel("WARN" if level in _WORDY else level)  # the console hears less than the root, and cannot be asked


def _loggers() -> list[logging.Logger]:
    from pyspark.logger import PySparkLogger

    return [PySparkLogger.getLogger(name) for name in _LOGGERS]
