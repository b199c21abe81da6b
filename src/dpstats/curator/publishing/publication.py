"""`dp.publish`: everything that a plan asks of one table, paid for at once, in one folder.

The folder has report.html, answers.json, answers.csv, CSV files of tables, synthetic rows, and manifest.json, which has the hash
of each of them, the plan, the cost and the ledger's entry.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from dpstats.curator.archive import Result
from dpstats.curator.desk import Desk
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.publishing.batch import AnsweredBatch, Payment, PricedBatch, answer_batch, price_batch
from dpstats.curator.publishing.cards import PublicFacts, card_lines
from dpstats.curator.publishing.contents import Files, answer_files, answers_json, chosen_row_files, json_bytes, summary_csv
from dpstats.curator.publishing.plan import PublicationPlan, plan_digest, read_plan
from dpstats.curator.publishing.report import ReportedAnswer, report_html
from dpstats.curator.session import Session
from dpstats.foundations.errors import DataFileError, InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.results import value_text
from dpstats.foundations.version import __version__

FORM = 1
"""Of manifests."""
MANIFEST, REPORT, ANSWERS, SUMMARY = "manifest.json", "report.html", "answers.json", "answers.csv"

GivenPlan = str | PurePath | Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Publication:
    """What was published, and where it lies."""

    answers: tuple[Result, ...]
    """In the order of the plan; a question that could not be answered has a `NoReply`."""
    cost: PrivacyCost
    """What all of them cost together, and those that were tried again once more."""
    folder: Path
    manifest: dict[str, Any]
    repeated: bool
    """Whether the answers came from the archive, so that nothing was spent."""

    def __repr__(self) -> str:
        spent = "nothing was spent: they were in the archive" if self.repeated else f"cost {self.cost}"
        return f"Publication({len(self.answers):,} answers, {spent}, {len(self.manifest['files']):,} files)"


def publish(
    plan: GivenPlan, *, out: str | PurePath, session: Session | None = None, rng: RandomSource | None = None
) -> Publication:
    """Answer everything that a plan asks, for one debit, and write it into a new folder.

    Parameters
      plan     a TOML file, or a dict: title, [table], [budget] and one [[question]] or more; see docs/publishing.md
      out      the folder to write, which must not be there yet, or be empty
      session  a protected table, for a plan without [table] and [budget]
      rng      as for the methods of a session, only for tests of invented tables

    All questions are checked and priced before anything is read; if one of them is wrong, or all of them together do not fit what
    is left of the budget, nothing is spent. The same plan on the same ledger gets the same answers again, and costs nothing; only
    what could not be computed is tried again, at its price.
    """
    if session is not None and not isinstance(session, Session):
        raise InvalidParameterError(f"session must come from dp.protect, got {type(session).__name__}.")
    read = read_plan(plan, needs_table=session is None)
    target, row_files = _free_folder(out), chosen_row_files(read.row_files)
    asked = read.open() if session is None else session
    batch = price_batch(asked, [each.document for each in read.questions], rng)
    answered = answer_batch(batch, rng)
    files = _contents(read, batch, answered, row_files)
    manifest = _manifest(read, batch, answered, files)
    _write(target, {**files, MANIFEST: json_bytes(manifest)})
    return Publication(answered.answers, answered.cost, target, manifest, answered.repeated)


def price(plan: GivenPlan) -> tuple[PublicationPlan, PricedBatch, PrivacyCost | None]:
    """A plan with its questions priced, at a ledger that is forgotten: nothing is read but names and types, or written.

    The cost is that of finding how many rows of each unit are used, where that is still to be paid.
    """
    read = read_plan(plan, needs_table=True)
    session, finding = read.open_priced()
    return read, price_batch(session, [each.document for each in read.questions]), finding


def _contents(plan: PublicationPlan, batch: PricedBatch, answered: AnsweredBatch, row_files: str) -> Files:
    """All files but the manifest."""
    facts, answers, canonical = _facts(batch.desk, answered.payments), answered.answers, plan.to_dict()
    cards = [card_lines(answer, facts, answered.cost) for answer in answers]
    own = [answer_files(number, answer, row_files) for number, answer in enumerate(answers, 1)]
    reported = [
        ReportedAnswer(question.title, question.description, answer, card, sorted(files))
        for question, answer, card, files in zip(plan.questions, answers, cards, own, strict=True)
    ]
    return {
        REPORT: report_html(plan.title, plan.description, reported, answered.cost, facts, plan_digest(canonical)),
        ANSWERS: answers_json(plan.title, canonical["question"], answers, cards, own),
        SUMMARY: summary_csv([question.title for question in plan.questions], answers),
        **{name: content for files in own for name, content in files.items()},
    }


def _facts(desk: Desk, payments: Sequence[Payment]) -> PublicFacts:
    account: AccountReader | None = desk.account
    assert account is not None
    keeper, first, last = account.accountant, payments[0].debit, payments[-1].debit
    again = [f"{_entry_words(each.debit)}, {_questions_words(each.places)} once more" for each in payments[1:]]
    keys = [f"{name} is one of {value_text(list(values))}" for name, values in desk.public_keys.items()]
    return PublicFacts(
        protects=desk.protection.describe(),
        max_rows_per_unit=None if desk.protection.is_by_row else desk.protection.rows_per_unit,
        declared="; ".join(keys),
        budget=str(account.budget),
        accountant=account.budget.accountant,
        version=__version__,
        entries=(f"{_entry_words(first)}, about {value_text(first.dataset)}", *again),
        total=keeper.words(keeper.from_dict(last.content()["total"])),
    )


def _entry_words(debit: Entry) -> str:
    return f"entry {debit.sequence}, {debit.time[:19].replace('T', ' ')} UTC, SHA-256 {debit.hash}"


def _questions_words(places: Sequence[int]) -> str:
    return f"question{'s' if len(places) > 1 else ''} {', '.join(str(place + 1) for place in places)}"


def _manifest(plan: PublicationPlan, batch: PricedBatch, answered: AnsweredBatch, files: Files) -> dict[str, Any]:
    canonical, payments = plan.to_dict(), answered.payments
    again = [{**_payment_words(each), "questions": [place + 1 for place in each.places]} for each in payments[1:]]
    written = {
        "form": FORM,
        "title": plan.title,
        "dpstats": __version__,
        "private": all(answer.private for answer in answered.answers),
        "cost": answered.cost.to_dict(),
        "plan": canonical,
        "plan_sha256": plan_digest(canonical),
        "ledger": {
            "dataset": payments[0].debit.dataset,
            **_payment_words(payments[0]),
            **({"tried_again": again} if again else {}),
        },
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    return dict(json.loads(json.dumps(written)))


def _payment_words(payment: Payment) -> dict[str, Any]:
    debit = payment.debit
    known = {"sequence": debit.sequence, "time": debit.time, "key": debit.key, "hash": debit.hash}
    return {**known, "archived": payment.archived}


def _free_folder(out: object) -> Path:
    """Where a publication goes, before anything is spent: a folder that is not there yet, or is empty."""
    if not isinstance(out, (str, PurePath)) or not str(out):
        raise InvalidParameterError("out must name the folder to write, such as out='report'.")
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameterError(f"there is something at {target.name!r} already: name a new folder, or an empty one.")
    above = target.absolute().parent
    if not above.is_dir() or not os.access(target if target.exists() else above, os.W_OK):
        raise DataFileError(f"cannot write the folder {target.name!r}: is the one that it lies in there, and writable?")
    return target


def _write(target: Path, files: Files) -> None:
    """Write all files, the manifest last: a folder without one is not a publication."""
    try:
        target.mkdir(exist_ok=True)
        for name, content in files.items():
            with (target / name).open("xb") as file:
                file.write(content)
    except OSError:
        raise DataFileError(
            f"cannot write all of {target.name!r}. The answers are in the ledger's archive: the same plan gets them again at no "
            "cost, into another folder."
        ) from None
