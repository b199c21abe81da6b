"""The golden files, and which changes of them are refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpstats.foundations.retired import RETIRED
from tests.golden.releases import Golden

HERE = Path(__file__).parent
RELEASES, CARDS, QUESTIONS = HERE / "releases.jsonl", HERE / "cards.txt", HERE / "questions.jsonl"
SCHEMA = HERE / "schema.json"
_HEAD = "=== "


def kept_lines(path: Path) -> dict[str, str]:
    """The lines of a file by the name that each of them has; none where there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {json.loads(line)["name"]: line for line in lines}


def card_file(releases: Sequence[Golden]) -> str:
    """The printed lines and cards, one after the other."""
    return "".join(f"{_HEAD}{each.name}\n{each.text}\n\n" for each in releases)


def kept_cards() -> dict[str, str]:
    """The texts in the file of cards, by name."""
    text = CARDS.read_text(encoding="utf-8") if CARDS.exists() else ""
    parts = (part.split("\n", 1) for part in f"\n{text}".split(f"\n{_HEAD}")[1:])
    return {name: rest.removesuffix("\n").removesuffix("\n") for name, rest in parts}


def changes(releases: Sequence[Golden]) -> Iterator[tuple[Golden, str]]:
    """The releases that are not as the files have them, with what is otherwise: numbers, words, or new."""
    lines, cards = kept_lines(RELEASES), kept_cards()
    for each in releases:
        if each.name not in lines:
            yield each, "new"
        elif each.line() != lines[each.name]:
            yield each, "numbers"
        elif each.text != cards.get(each.name):
            yield each, "words"
    for name in lines.keys() - {each.name for each in releases}:
        yield Golden(name, 0, None, ""), "gone"


def refused_changes(releases: Sequence[Golden], *, words: bool, order: bool) -> list[str]:
    """Why the files may not be written so."""
    lines, complaints = kept_lines(RELEASES), []
    for each, kind in changes(releases):
        former: dict[str, Any] = json.loads(lines[each.name]) if each.name in lines else {}
        if kind == "numbers" and former["version"] >= each.version and not (order and each.name.startswith("groups/")):
            complaints.append(f"{each.name}: its numbers changed, and its method still has version {each.version}")
        if kind == "gone" and not is_retired(each.name):
            complaints.append(f"{each.name}: it is gone")
        if kind == "words" and not words:
            complaints.append(f"{each.name}: its line or card changed: read `git diff` after --words")
    return complaints


def refused_questions(found: Mapping[str, str]) -> list[str]:
    """Why the lines of questions may not be written so: nothing may change but a key, with the version of its method, and nothing
    may be gone but a retired method."""
    kept = kept_lines(QUESTIONS)
    changed = [name for name in kept if kept[name] != found.get(name) and (name in found or not is_retired(name))]
    return [f"{name}: its document or debit changed" for name in changed if not _is_raised(kept[name], found.get(name, "{}"))]


def is_retired(name: str) -> bool:
    """Whether a golden name is that of a retired method: iqr/one-test, or person/iqr/one-test."""
    return any(pair in RETIRED for pair in itertools.pairwise(name.split("/")))


def _is_raised(kept: str, found: str) -> bool:
    """Whether a line is another one with a higher version of the method."""
    one, other = json.loads(kept), json.loads(found)
    if not isinstance(one.get("debit"), dict) or not isinstance(other.get("debit"), dict):
        return False
    versions = [each["debit"]["details"].pop("method").rpartition("/") for each in (one, other)]
    for each in (one, other):
        del each["debit"]["key"]
    (name, _, before), (new_name, _, after) = versions
    return one == other and name == new_name and int(after) > int(before)
