"""Columns that are kept say what the files say, and fail as these do when a file has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from dpstats.engines.cells import Cells, Labels, present_cells
from dpstats.engines.stores.kept_columns import KeptColumns
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.foundations.errors import DataFileError

PLENTY = 1 << 20


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files of several row groups, with missing cells, texts and dates."""
    for number, rows in enumerate((1_000, 10)):
        places = range(rows)
        table = pl.DataFrame(
            {
                "person": [each % 97 for each in places],
                "income": [None if each % 7 == 0 else each / 3 for each in places],
                "region": [None if each % 5 == 0 else ("north", "süd")[each % 2] for each in places],
            }
        )
        table.write_parquet(tmp_path / f"{number}.parquet", row_group_size=300)
    return [tmp_path / "0.parquet", tmp_path / "1.parquet"]


def plain(cells: Cells) -> list[Any]:
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in vars(cells).values()]


def everything(store: ParquetStore | KeptColumns, names: list[str]) -> dict[str, list[Any]]:
    """Every cell of some columns; labels by their names, because batches may number them otherwise."""
    found: dict[str, list[Any]] = {name: [] for name in names}
    for batch in store.batches(names):
        for name in names:
            cells = batch.cells(name, store.columns[name])
            assert len(cells) == batch.rows
            present = present_cells(cells)
            if isinstance(cells, Labels):
                labels = [*cells.raw_labels, None]
                found[name] += [labels[code] for code in cells.raw_codes]
            else:
                values: Any = cells
                found[name] += [value if here else None for value, here in zip(values.raw_values.tolist(), present, strict=True)]
    return found


@pytest.mark.parametrize("limit", [0, 20_000, PLENTY], ids=["none", "some", "all"])
def test_what_is_kept_is_what_the_files_hold(files: list[Path], limit: int) -> None:
    store = ParquetStore(files, batch_rows=256)
    kept = KeptColumns(store, limit)
    for names in (["income"], ["region", "person"], ["person", "income", "region"], ["income", "income"], []):
        for _ in range(2):
            assert sum(batch.rows for batch in kept.batches(names)) == 1_010
            assert everything(kept, names) == everything(store, names)
    ids = [plain(batch.identities("person", kept.columns["person"])) for batch in kept.batches(["person"])]
    assert ids == [plain(batch.identities("person", kept.columns["person"])) for batch in store.batches(["person"])]
    assert len(kept._kept) == {0: 0, 20_000: 1, PLENTY: 3}[limit]


def test_files_are_read_once_and_their_cells_cannot_be_changed(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptColumns(ParquetStore(files), PLENTY)
    before = everything(kept, ["income", "region"])
    monkeypatch.setattr(ParquetStore, "batches", lambda *_: pytest.fail("read again"))
    assert everything(kept, ["region", "income"]) == before
    for batch in kept.batches(["income"]):
        numbers: Any = batch.cells("income", kept.columns["income"])
        with pytest.raises(ValueError, match="read-only"):
            numbers.raw_values[:1] = 0


def test_a_file_that_has_changed_is_noticed(files: list[Path]) -> None:
    kept = KeptColumns(ParquetStore(files), PLENTY)
    everything(kept, ["income"])
    pl.DataFrame({"person": [1], "income": [1.0], "region": ["west"]}).write_parquet(files[1])
    with pytest.raises(DataFileError, match="changed"):
        everything(kept, ["income"])
    with pytest.raises(DataFileError, match="changed"):
        kept.check_reachable()
