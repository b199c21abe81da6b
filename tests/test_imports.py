"""`import dpstats` is light: it loads none of the heavy packages and little beyond numpy. (Its time: benchmarks/imports.py.)"""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

import dpstats

HEAVY = {
    "duckdb",
    "fastapi",
    "ibis",
    "matplotlib",
    "narwhals",
    "opendp",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "scipy",
    "sklearn",
    "sqlalchemy",
}


def modules_after(statements: str) -> set[str]:
    """What is loaded in a fresh interpreter after these statements."""
    code = f"import json, sys\n{statements}\nprint(json.dumps(list(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(result.stdout.splitlines()[-1]))


def heavy(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules} & HEAVY


def test_every_module_can_be_imported_where_float_errors_raise() -> None:
    names = (each.name for each in pkgutil.walk_packages(dpstats.__path__, "dpstats.") if not each.name.endswith("__main__"))
    # numpy's own state is the caller's, and modules load at first use: scipy and scikit-learn come first, to be judged by nobody
    before = "import numpy, scipy.stats, sklearn.linear_model, numpy.ma; numpy.seterr(all='raise')"
    assert modules_after("; ".join([before, *(f"import {name}" for name in names)]))


def test_import_loads_nothing_heavy() -> None:
    assert heavy(modules_after("import dpstats")) == set()


def test_listing_the_names_and_answering_from_a_list_load_nothing_heavy() -> None:
    assert heavy(modules_after("import dpstats\ndir(dpstats)\ndpstats.median([1.0, 2.0, 3.0], epsilon=1)")) == set()


def test_the_demo_loads_nothing_heavy() -> None:
    assert heavy(modules_after("from dpstats.cli.main import main\nmain(['demo'])")) == set()


def test_import_loads_fewer_modules_of_its_own_than_numpy_does() -> None:
    bare, with_numpy, with_dpstats = (modules_after(line) for line in ("pass", "import numpy", "import dpstats"))
    assert len(with_dpstats - with_numpy) < len(with_numpy - bare)
