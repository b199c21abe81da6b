"""Every example runs, as whoever reads it would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(name: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, ROOT / "examples" / name], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def test_every_example_is_tried_here() -> None:
    tried = {"likelihood.py", "protect.py", "regression.py", "sample_and_aggregate.py"}
    assert {path.name for path in (ROOT / "examples").glob("*")} == tried


def test_protect_runs_out_of_budget_and_a_second_process_finds_the_ledger_as_it_was(tmp_path: Path) -> None:
    first, second = (run("protect.py", tmp_path) for _ in range(2))
    assert first.splitlines()[0] == "Spent before this process: epsilon = 0"
    assert second.splitlines()[0] == "Spent before this process: epsilon = 1.7, delta = 0.000001"
    assert second.count("from the archive") == 3
    plain = [
        line.replace(" (from the archive)", "") for line in second.splitlines()[1:] if not line.startswith("this very question")
    ]
    assert plain == first.splitlines()[1:]  # noise is not drawn again
    assert "Estrava" in first
    assert "there is epsilon = 0.3 left. Nothing was spent." in first


def test_regression_prints_a_row_for_each_region_predicts_and_draws(tmp_path: Path) -> None:
    printed = run("regression.py", tmp_path)
    assert "Cost: epsilon = 2, delta = 0.000001" in printed
    assert printed.count("Fennick") == 2  # a coefficient, and a prediction
    assert (tmp_path / "regression.svg").read_text(encoding="utf-8").count("Fennick") >= 1


def test_sample_and_aggregate_fits_a_line_and_chooses_a_model(tmp_path: Path) -> None:
    printed = run("sample_and_aggregate.py", tmp_path).splitlines()
    assert printed[0].startswith(("a year of schooling", "Fewer than half of the blocks"))  # so it says rarely, by chance
    assert printed[-2].split()[-1] in ("line", "parabola", "nothing")
    assert printed[-1] == "Cost: epsilon = 1 and epsilon = 1"


def test_likelihood_chooses_a_law_and_reads_shares_off_it(tmp_path: Path) -> None:
    printed = run("likelihood.py", tmp_path)
    assert printed.splitlines()[0] in ("family: lognormal", "family: gamma", "family: weibull")
    assert "Private maximum likelihood" in printed
    assert printed.count("of those who have an income") == 3
    assert "within bounds: lognormal(mu=" in printed
    assert printed.splitlines()[-1] == "Cost: epsilon = 0.5 and epsilon = 1 and epsilon = 1"
