"""The verification of a publication: what can be checked of a folder without the data, and with its ledger.

By itself: every file is there, is the one that the manifest names, and no other is; the plan is the one whose hash is written;
the costs of the answers add up to the stated one. With the ledger: it is sound, has the entry, for this cost, and has archived
the answers, tables and rows that are in the folder. A forger who writes these anew, and the manifest too, is found by the ledger
alone. The words around them (the report, titles, cards) are compared with the manifest only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any

from dpstats.curator.archive import Result
from dpstats.curator.ledger.entries import ANSWER, DEBIT, Entry
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.ledger.readers import archived_document
from dpstats.curator.publishing.batch import archived_answers
from dpstats.curator.publishing.contents import CSV, PARQUET, answer_files, reply_json
from dpstats.curator.publishing.plan import plan_digest
from dpstats.curator.publishing.publication import ANSWERS, FORM, MANIFEST
from dpstats.curator.publishing.value_tables import ROWS
from dpstats.foundations.errors import DataFileError, DpstatsError
from dpstats.foundations.version import __version__

_CHUNK = 1 << 20
_AMOUNTS = ("epsilon", "delta")


@dataclass(frozen=True)
class PublicationCheck:
    """What was found: sound, or every complaint."""

    files: int
    """How many files the manifest names."""
    with_ledger: bool
    complaints: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether there is no complaint."""
        return not self.complaints

    def __str__(self) -> str:
        ledger = "the ledger has its entry" if self.with_ledger else "not compared with a ledger"
        if self.sound:
            return f"sound: {self.files:,} files are as they were published; {ledger}"
        return "\n".join([*self.complaints, "NOT SOUND"])


def verify_publication(folder: str | PurePath, *, ledger: str | PurePath | None = None) -> PublicationCheck:
    """Check a published folder, and with `ledger` that its entry and its answers are there. Reads no data, changes nothing."""
    place = Path(folder)
    manifest = _manifest(place)
    complaints = [*_file_complaints(place, manifest["files"])]
    try:
        complaints += _own_complaints(place, manifest)
        if ledger is not None:
            complaints += _ledger_complaints(place, manifest, ledger)
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
        if isinstance(error, DpstatsError):
            raise
        complaints.append("the manifest or the answers are not in the form that dpstats writes")
    return PublicationCheck(len(manifest["files"]), ledger is not None, tuple(complaints))


def _manifest(place: Path) -> dict[str, Any]:
    try:
        found = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise DataFileError(f"{place.name!r} is no publication: it has no {MANIFEST} that can be read.") from None
    if not isinstance(found, dict) or found.get("form") != FORM or not isinstance(found.get("files"), dict):
        raise DataFileError(f"the {MANIFEST} in {place.name!r} is not of a form that this release of dpstats knows.")
    return found


def _file_complaints(place: Path, files: Mapping[str, Any]) -> Iterable[str]:
    present = {each.name for each in place.iterdir()} - {MANIFEST}
    for name, expected in sorted(files.items()):
        if name != PurePath(name).name or name not in present or not (place / name).is_file():
            yield f"{name!r} is missing"
        elif _digest(place / name) != expected:
            yield f"{name!r} was changed after it was published"
    for name in sorted(present - files.keys()):
        yield f"{name!r} was not published: the manifest does not name it"


def _own_complaints(place: Path, manifest: Mapping[str, Any]) -> Iterable[str]:
    if plan_digest(manifest["plan"]) != manifest["plan_sha256"]:
        yield "the plan in the manifest does not match its hash"
    answers = _answers(place)
    for name in _AMOUNTS:
        if sum(_cost_of(answers, each, name) for each in _payments(manifest, answers)) != _amount(manifest, name):
            yield f"the answers' {name} does not add up to the manifest's"


def _ledger_complaints(place: Path, manifest: Mapping[str, Any], address: str | PurePath) -> Iterable[str]:
    with open_ledger(address, read_only=True) as ledger:
        found = ledger.verify()
        entries = ledger.entries()
    yield from (f"the ledger is not sound: {complaint}" for complaint in found.complaints[:1])
    answers = _answers(place)
    archived: list[Result | None] = [None] * len(answers)
    for payment in _payments(manifest, answers):
        debit = next((each for each in entries if each.hash == payment["hash"]), None)
        if debit is None:
            yield "the ledger does not have the entry that the manifest names"
            return
        if debit.kind != DEBIT or any(getattr(debit, name) != payment[name] for name in ("dataset", "sequence", "time", "key")):
            yield "the ledger's entry is another one than the manifest says"
            return
        paid = debit.content()["cost"]
        if any(Fraction(paid[name]) != _cost_of(answers, payment, name) for name in _AMOUNTS):
            yield "the ledger's entry has another cost than the manifest says"
        answer = next((each for each in entries if _answers_debit(each, debit)), None)
        kept: Sequence[Result | None] = [] if answer is None else archived_answers(archived_document(answer))
        if payment["archived"] and answer is None:
            yield "the ledger has not archived these answers"
        for number, reply in zip(payment["questions"], kept or [None] * len(payment["questions"]), strict=True):
            archived[number - 1] = reply
    known = [(number, result) for number, result in enumerate(archived, 1) if result is not None]
    if any(reply_json(result) != answers[number - 1]["reply"] for number, result in known):
        yield f"{ANSWERS!r} has other answers than the ledger has archived"
    if manifest["dpstats"] == __version__:  # another version may write the same answers otherwise
        for number, result in known:
            yield from _table_complaints(place, number, result)


def _table_complaints(place: Path, number: int, kept: Result) -> Iterable[str]:
    """Files of tables and rows that are not those of the archived answer."""
    in_parquet = (place / f"{number:02}-{ROWS}.{PARQUET}").is_file()
    if in_parquet and find_spec("pyarrow") is None:
        return
    for name, content in answer_files(number, kept, PARQUET if in_parquet else CSV).items():
        if not (place / name).is_file() or not _same_content(place / name, content):
            yield f"{name!r} does not hold what the ledger has archived"


def _same_content(path: Path, content: bytes) -> bool:
    if path.suffix != f".{PARQUET}":
        return path.read_bytes() == content
    import pyarrow.parquet

    written, expected = pyarrow.parquet.read_table(path), pyarrow.parquet.read_table(BytesIO(content))
    return bool(written.equals(expected))


def _payments(manifest: Mapping[str, Any], answers: Sequence[Any]) -> list[dict[str, Any]]:
    """The entries of the ledger that the manifest names, each with the numbers of the questions that it paid for."""
    first = manifest["ledger"]
    every = {**first, "questions": range(1, len(answers) + 1)}
    return [every, *({**each, "dataset": first["dataset"]} for each in first.get("tried_again", ()))]


def _cost_of(answers: Sequence[Any], payment: Mapping[str, Any], name: str) -> Fraction:
    costs = (answers[number - 1]["reply"]["cost"] for number in payment["questions"])
    return sum((Fraction(cost[f"{name}_exact"]) for cost in costs), start=Fraction(0))


def _amount(manifest: Mapping[str, Any], name: str) -> Fraction:
    return Fraction(manifest["cost"][f"{name}_exact"])


def _answers_debit(entry: Entry, debit: Entry) -> bool:
    return (entry.kind, entry.dataset, entry.key) == (ANSWER, debit.dataset, debit.key) and (
        entry.content()["debit"] == debit.sequence
    )


def _answers(place: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((place / ANSWERS).read_text(encoding="utf-8"))["answers"]
    return found


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
