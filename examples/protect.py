"""Protect a Parquet file and ask until its budget is gone; a second run, another process, finds the ledger as it was left."""

from pathlib import Path

import polars

import dpstats as dp
from dpstats.data import survey

if not Path("people.parquet").exists():
    polars.DataFrame(survey()).write_parquet("people.parquet")  # 5,000 invented persons

people = dp.protect(
    "people.parquet", unit="person", max_rows_per_unit=1, budget=dp.Budget(epsilon=2, delta=1e-6), ledger="people.ledger"
)
print("Spent before this process:", people.ledger.spent)
print(people.count(epsilon=0.1))
print(people.where("age >= 30 and hours > 0").count(epsilon=0.1))
print(people.group_by("region").median("income", epsilon=1, delta=1e-6))
print(people.iqr("income", epsilon=0.5))
print("Left:", people.remaining)
try:
    people.median("rent", epsilon=1)
except dp.BudgetError as refusal:
    print("Refused:", refusal)
