"""`dpstats publish`: everything that a plan asks of a table, paid for at once, in one folder that can be verified."""

from __future__ import annotations

import argparse

from dpstats.accounting.accountants import Total
from dpstats.cli import exits
from dpstats.cli.ledger import UNSOUND
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.results import NoReply, value_text
from dpstats.foundations.text_tables import shortened, table_lines

_LONGEST = 60
_DESCRIPTION = f"""\
Publishes answers about one table: questions, contingency tables and synthetic rows, as a plan lists them.

  dpstats publish plan.toml --price              what each question costs, and all of them; reads and writes nothing
  dpstats publish plan.toml --out report         one debit in the ledger, one folder: report.html, JSON, CSV, Parquet, a manifest
  dpstats publish --verify report                whether every file is as it was published
  dpstats publish --verify report --ledger people.ledger    and whether the ledger has it

A plan:

  title = "Incomes in six towns"
  [table]
  file = "people.csv"            # beside the plan; .csv, .tsv or .parquet
  unit = "person"                # the column that says whose row it is, or "row"
  max_rows_per_unit = 1          # how many rows of each person are used at most
  types = {{income = "number"}}
  keys = {{region = ["Arnmouth", "Belhollow"]}}
  [budget]
  epsilon = 2                    # what all questions to this ledger may ever spend
  delta = 1e-6
  ledger = "people.ledger"
  [[question]]                   # and as many more as you like: see dpstats schema
  title = "What a person earns"
  statistic = "median"
  columns = ["income"]
  epsilon = 0.5

All questions are checked and priced before a row is read. What goes wrong because of the data in one of them is a "no reply" at
full cost, and the others are published. The same plan on the same ledger gets the same answers again, and spends nothing; only
what could not be computed at all is tried again, at its price.

Exit codes:
  {exits.ANSWERED}  every question was answered; or the folder is sound
  {UNSOUND}  the folder is not sound; every complaint is printed
  {exits.BAD_INPUT}  the plan is at fault, or does not fit the budget; one sentence says how, and nothing was spent
  {exits.NO_REPLY}  published, and at least one question got no reply
"""


def describe() -> str:
    """The text above the arguments in the help."""
    return _DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats publish`."""
    parser.add_argument("plan", metavar="PLAN", nargs="?", help="a plan: a TOML file")
    parser.add_argument("--out", metavar="FOLDER", help="the folder to write: a new one, or an empty one")
    parser.add_argument("--price", action="store_true", help="print what it costs; nothing is read, spent or written")
    parser.add_argument("--verify", metavar="FOLDER", help="check a folder that was published")
    parser.add_argument("--ledger", metavar="LEDGER", help="with --verify: the ledger that paid for it")


def run(arguments: argparse.Namespace) -> int:
    """Verify, price or publish."""
    if arguments.verify is not None:
        if arguments.plan or arguments.out or arguments.price:
            raise InvalidParameterError("--verify takes a folder, and --ledger, and nothing else.")
        return _verify(arguments.verify, arguments.ledger)
    if arguments.ledger is not None:
        raise InvalidParameterError("--ledger is for --verify: the plan names the ledger that pays, [budget] ledger = ...")
    if not arguments.plan:
        raise MissingParameterError("publish needs a plan, such as plan.toml; or --verify FOLDER.")
    if arguments.price and arguments.out:
        raise InvalidParameterError("--price writes nothing: leave --out away, or --price to publish.")
    if arguments.price:
        return _price(arguments.plan)
    if not arguments.out:
        raise MissingParameterError("publish needs --out FOLDER, where everything goes; --price only says what it costs.")
    return _publish(arguments.plan, arguments.out)


def _publish(plan: str, out: str) -> int:
    from dpstats.curator.desk import has_failed
    from dpstats.curator.publishing.publication import publish

    published = publish(plan, out=out)
    for number, answer in enumerate(published.answers, 1):
        lines = str(answer).splitlines() or [""]
        print(f"{number:>2}  {lines[0]}", *(f"    {line}" for line in lines[1:]), sep="\n")
    spent = f"It was published before: nothing was spent (it cost {published.cost})." if published.repeated else ""
    again = published.manifest["ledger"].get("tried_again", ())
    if again:
        spent = spent or f"Spent in all: {published.cost}, with what was tried again, in {1 + len(again)} entries of the ledger."
    print(f"\n{spent or f'Spent: {published.cost}, in one entry of the ledger.'}")
    print(f"{len(published.manifest['files']) + 1:,} files were written to {out}; begin with report.html.")
    failed = sum(map(has_failed, published.answers))
    if failed:
        print(f"{failed:,} of {len(published.answers):,} could not be computed: the same plan tries again, and that costs again.")
    elif not published.manifest["ledger"]["archived"]:
        print("The ledger could not keep these answers: the same plan will cost again.")
    return exits.NO_REPLY if any(isinstance(answer, NoReply) for answer in published.answers) else exits.ANSWERED


def _price(path: str) -> int:
    from dpstats.curator.publishing.publication import price

    plan, batch, finding = price(path)
    rows = [("", "question", "cost")]
    for number, (question, each) in enumerate(zip(plan.questions, batch.priced, strict=True), 1):
        text = shortened(value_text(each.request.text), _LONGEST)
        rows.append((str(number), f"{shortened(question.title, _LONGEST)}: {text}", str(each.request.cost)))
    print("\n".join(table_lines(rows)))
    budget = batch.session.ledger.budget
    before = Total() if finding is None else budget.keeper.charge(finding)
    fits = budget.fits(batch.cost, before, loss=batch.loss)
    room = "; the budget is" if fits else ", which does not fit the budget:"
    print(f"\nAll of it costs {batch.cost}, in one debit{room} {budget}. Nothing was spent.")
    if finding is not None:
        print(f"Before that, finding how many rows of each {finding.unit} are used costs {finding}, once.")
    return exits.ANSWERED if fits else exits.BAD_INPUT


def _verify(folder: str, ledger: str | None) -> int:
    from dpstats.curator.publishing.verification import verify_publication

    found = verify_publication(folder, ledger=ledger)
    print(found)
    return exits.ANSWERED if found.sound else UNSOUND
