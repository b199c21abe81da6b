"""A job of the benchmark: one question of samples of one size, at one epsilon or several."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.real_tables.questions import Question


@dataclass(frozen=True)
class Job:
    """One question of samples of `rows` rows: a cell for each epsilon, which share their samples."""

    question: Question
    rows: int
    epsilons: tuple[float, ...]

    def name_at(self, epsilon: float) -> str:
        """A cell in one line."""
        return f"{self.question.name}, {self.rows:,} rows, epsilon {epsilon:g}"
