"""Makes the demo's table, `src/dpstats/data/survey.csv`: synthetic persons, the same ones at every run.

    python benchmarks/make_survey.py                 writes the table
    python benchmarks/make_survey.py other.csv       writes it elsewhere

Nobody in the table exists: every cell is drawn below from a fixed seed, and no real record was looked at. Only `Random.random`
is used, whose stream Python promises to keep; whole numbers and cents hide the last bits of `exp` and `log`.
"""

from __future__ import annotations

import csv
import math
import sys
from bisect import bisect
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import TypeVar

SEED = 20_240_229
PERSONS = 5_000
TABLE = Path(__file__).parents[1] / "src" / "dpstats" / "data" / "survey.csv"
COLUMNS = ("person", "age", "region", "schooling", "hours", "income", "rent", "commute")

# name: share of the population, level of wages, level of rents
REGIONS = {
    "Arnmouth": (0.29, 1.15, 1.35),
    "Belhollow": (0.22, 1.02, 1.05),
    "Corrigate": (0.18, 0.97, 0.95),
    "Dunsholt": (0.14, 0.90, 0.80),
    "Estrava": (0.11, 0.94, 0.88),
    "Fennick": (0.06, 0.85, 0.70),
}
SCHOOLING = {8: 4, 9: 9, 10: 8, 11: 5, 12: 33, 13: 9, 14: 8, 15: 4, 16: 14, 17: 3, 18: 7, 19: 1, 21: 2}
FULL_TIME = {35: 8, 37: 7, 38: 9, 40: 46, 42: 6, 45: 11, 48: 3, 50: 8, 55: 2, 60: 3, 70: 1}
PART_TIME = {4: 1, 8: 3, 10: 5, 12: 4, 15: 7, 16: 6, 20: 24, 24: 9, 25: 12, 28: 5, 30: 20, 32: 6}
STANDARD_NORMAL = NormalDist()
Label = TypeVar("Label")


class Person:
    """One synthetic respondent; the draws come in the order of the columns."""

    def __init__(self, number: int, random: Random) -> None:
        self.number = number
        self.random = random
        self.age = self._age()
        self.region = self._choose({name: share for name, (share, _, _) in REGIONS.items()})
        self.schooling = self._schooling()
        self.hours = self._hours()
        self.income = self._income()
        self.rent = self._rent()
        self.commute = self._commute()

    def cells(self) -> list[str]:
        """The row, in the order of `COLUMNS`."""
        whole = (self.number, self.age, self.region, self.schooling, self.hours)
        return [*map(str, whole), self.income, self.rent, self.commute]

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _normal(self) -> float:
        return STANDARD_NORMAL.inv_cdf(min(max(self.random.random(), 1e-12), 1 - 1e-12))

    def _choose(self, weights: Mapping[Label, float]) -> Label:
        mark = self.random.random() * sum(weights.values())
        return list(weights)[bisect(list(accumulate(weights.values())), mark, hi=len(weights) - 1)]

    def _age(self) -> int:
        while True:  # level up to the sixties, then ever fewer
            age = 18 + int(73 * self.random.random())
            if self._chance(1 / (1 + math.exp((age - 71) / 6))):
                return age

    def _schooling(self) -> int:
        years = self._choose(SCHOOLING)
        if self.age < 25:  # many are still at it
            years = min(years, self.age - 6)
        elif self.age > 60 and years > 12 and self._chance(0.4):
            years = 12 if self._chance(0.6) else 9
        return years

    def _hours(self) -> int:
        if self.age < 24:
            works = 0.55
        elif self.age < 62:
            works = 0.74 + 0.01 * (self.schooling - 12)
        elif self.age < 68:
            works = 0.45
        else:
            works = 0.06
        if not self._chance(works):
            return 0
        return self._choose(PART_TIME if self._chance(0.55 if self.age < 24 or self.age > 67 else 0.22) else FULL_TIME)

    def _income(self) -> str:
        if self._chance(0.03):
            return ""
        years = self.age - 18
        level = 9.75 + 0.075 * (self.schooling - 12) + 0.042 * years - 0.00065 * years**2 + 0.45 * self._normal()
        if self.hours:
            amount = math.exp(level) * (self.hours / 40) * REGIONS[self.region][1]
            if self._chance(0.012):  # owners of something that went well
                amount *= 3 * (1 - self.random.random()) ** -0.9
            elif self._chance(0.004):  # or badly
                amount = -0.3 * amount
        elif self.age >= 62:
            amount = math.exp(9.45 + 0.04 * (self.schooling - 12) + 0.35 * self._normal())
        elif self._chance(0.56):
            amount = 0
        else:
            amount = math.exp(8.6 + 0.5 * self._normal())
        return str(self._as_remembered(amount))

    def _as_remembered(self, amount: float) -> int:
        recall = self.random.random()  # people round what they earn
        step = 1000 if recall < 0.35 else 100 if recall < 0.65 else 1
        return step * round(amount / step)

    def _rent(self) -> str:
        if self._chance(0.62 if self.age > 45 else 0.34):
            return ""  # owners
        if self._chance(0.01):
            return "n/a"
        amount = math.exp(6.35 + 0.4 * self._normal()) * REGIONS[self.region][2]
        cents = 0 if self._chance(0.55) else int(100 * self.random.random())
        return f"{int(amount)}.{cents:02d}"

    def _commute(self) -> str:
        if not self.hours or self._chance(0.02):
            return ""
        if self._chance(0.12):
            return "0.0"  # works at home
        return f"{math.exp(3.05 + 0.75 * self._normal()):.1f}"


def write_survey(path: Path) -> None:
    random = Random(SEED)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(Person(number, random).cells() for number in range(1, PERSONS + 1))


if __name__ == "__main__":
    write_survey(Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE)
