"""One Spark session for a whole run of the tests, on one worker of xdist: two local workers of Spark, no web pages, a quiet log.

Spark needs a Java of version 17 or newer; where there is none, tests are skipped with the reason, or fail if the environment
variable DPSTATS_NO_SKIP is set.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.slow import starts_spark

ROOT = Path(__file__).parents[1]
_OLDEST_JAVA = 17
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "2",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "America/New_York",  # what is read must not depend on it
    "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
    "spark.python.worker.reuse": "true",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a short life needs no second compiler
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Under `--dist loadfile` all tests that start Spark go to one worker: to start it takes longer than most files."""
    if config.getvalue("dist") != "loadfile":
        return None  # xdist's own choice
    from xdist.scheduler import LoadFileScheduling

    scheduler = LoadFileScheduling(config, log)
    file_of = scheduler._split_scope
    scheduler._split_scope = lambda nodeid: "spark" if starts_spark(nodeid) else file_of(nodeid)
    return scheduler


def java_version() -> int:
    """The main version of the Java that Spark would start; 0 where there is none."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return 0
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False, timeout=600).stderr
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A running session."""
    if find_spec("pyspark") is None or java_version() < _OLDEST_JAVA:
        reason = "no Spark: pip install pyspark and install a Java of version 17 or newer"
        if os.environ.get("DPSTATS_NO_SKIP"):
            pytest.fail(reason)
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))  # this tree, and the jobs that tests define
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("tests")
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse"))).getOrCreate()
        yield session
        session.stop()
