"""Synthetic rows and tables of a long Parquet file: passes, seconds of a processor, memory.

Run by `benchmarks/synthetic.py --large`; each question runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 1 << 18
SIZES = (2, 2, 3, 4, 5, 6, 8, 12, 20, 30, 50, 100)
"""How many labels or codes the columns have that are not measurements."""


def make_table(file: Path, rows: int) -> None:
    """Eight columns of measurements, some with heavy tails, six of texts and six of small whole numbers; cells are missing in
    some. Written batch by batch."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    chance = np.random.default_rng(3)
    writer: ParquetWriter | None = None
    for start in range(0, rows, BATCH):
        table = pa.table(_columns(min(BATCH, rows - start), chance))
        writer = writer or ParquetWriter(file, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def _columns(rows: int, chance: np.random.Generator) -> dict[str, Any]:
    import pyarrow as pa

    def with_holes(values: np.ndarray, part: float) -> Any:
        return pa.array(values, mask=chance.random(rows) < part)

    common = chance.normal(size=rows)
    income = np.round(chance.lognormal(10 + 0.5 * common, 1, rows), 2)
    hours = np.where(chance.random(rows) < 0.3, 0, np.clip(chance.normal(36, 9, rows), 1, 99))
    columns = {
        "income": with_holes(income, 0.05),
        "wealth": pa.array(chance.standard_t(2.5, rows) * 1e5 + 2 * income),
        "age": pa.array(np.clip(chance.normal(45 + 5 * common, 18, rows), 0, 99).astype(np.int64)),
        "hours": pa.array(hours.astype(np.int32)),
        "spent": with_holes(np.round(chance.pareto(1.3, rows) * 100, 2), 0.1),
        "score": pa.array((common + chance.normal(size=rows)).astype(np.float32)),
        "claims": pa.array(chance.negative_binomial(0.5, 0.1, rows)),
        "weight": pa.array(np.round(chance.gamma(3, 20, rows), 1)),
    }
    for place, size in enumerate(SIZES):
        codes = np.minimum((chance.random(rows) ** 1.5 * size).astype(np.int16) + (place % 3 == 0) * (common > 0), size - 1)
        holes = with_holes(codes.astype(np.int16), 0.02 if place % 4 in (1, 2) else 0.0)
        if place % 2:
            columns[f"code {size}.{place}"] = holes
        else:
            labels = pa.array([f"level {number}" for number in range(size)])
            columns[f"label {size}.{place}"] = pa.DictionaryArray.from_arrays(holes.cast(pa.int32()), labels).cast(pa.string())
    return columns


def _session(file: Path) -> Any:
    import dpstats as dp

    return dp.protect(file, unit="row", budget=dp.Budget(epsilon=1000, delta=0.01), ledger=":memory:")


def _synthesize(file: Path) -> object:
    return _session(file).synthesize(epsilon=1, delta=1e-6)


def _tables(file: Path) -> object:
    names = [name for name in _session(file).columns if name.startswith(("code", "label"))]
    return _session(file).contingency_table(names, ways=2, epsilon=1, delta=1e-6)


def _written(kind: str) -> Callable[[Path], object]:
    def run(file: Path) -> object:
        from dpstats.cli.main import main

        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            words = ["--epsilon", "1", "--delta", "1e-6", "--out", str(Path(folder) / f"rows.{kind}")]
            assert main(["synthesize", str(file), *words]) == 0
        return None

    return run


QUESTIONS: dict[str, Callable[[Path], object]] = {
    "session.synthesize, without drawing rows": _synthesize,
    "session.contingency_table, 12 columns, all pairs": _tables,
    "dpstats synthesize --out rows.parquet": _written("parquet"),
    "dpstats synthesize --out rows.csv": _written("csv"),
}


def answer(name: str, file: Path) -> dict[str, float]:
    """Ask one question in this process: passes, how many columns they read in all, seconds, memory."""
    from dpstats.engines.stores.parquet import ParquetStore

    passes: list[int] = []
    batches = ParquetStore.batches

    def counted(store: ParquetStore, columns: Sequence[str]) -> Any:
        passes.append(len(columns))
        return batches(store, columns)

    ParquetStore.batches = counted  # type: ignore[method-assign, assignment]
    began = time.process_time()
    QUESTIONS[name](file)
    seconds = time.process_time() - began
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    single = sum(columns == 1 for columns in passes)
    found = {"single": single, "several": len(passes) - single, "read": sum(passes)}
    return {**found, "seconds": seconds, "megabytes": int(line.split()[1]) / 1024}


def measure_large(rows: int) -> None:
    """Make the table, and print a line for each question."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "long.parquet"
        make_table(file, rows)
        print(f"{rows:,} rows x {8 + len(SIZES)} columns in Parquet, {file.stat().st_size / 1e6:.0f} MB; epsilon 1, delta 1e-6\n")
        print("| question | passes over one column | passes over several | columns read in all | processor, s | MB |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
        for name in QUESTIONS:
            command = [sys.executable, __file__, name, str(file)]
            ended = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(ended.stdout.strip().splitlines()[-1])
            counts = f"{found['single']} | {found['several']} | {found['read']}"
            print(f"| {name} | {counts} | {found['seconds']:.0f} | {found['megabytes']:.0f} |", flush=True)


if __name__ == "__main__":
    print(json.dumps(answer(sys.argv[1], Path(sys.argv[2]))))
