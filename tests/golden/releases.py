"""Seeded releases, with their printed lines and cards."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import dpstats as dp
from dpstats.foundations.registry import find_statistic, statistic_names
from dpstats.foundations.results import NoReply, Release
from tests.golden.tables import EDGES, GROUPS, NODES, SETTINGS, calls, session
from tests.seeded_releases import cases, cases_of_changed_rows, plain

LONGEST = 1_500
"""A longer value is kept as its digest and its first characters."""
SEED = 7


class Golden(NamedTuple):
    """One release: what it is called, the version of its method, its numbers, and its printed text."""

    name: str
    version: int
    numbers: Any
    text: str

    def line(self) -> str:
        """Its line in releases.jsonl."""
        return json.dumps({"name": self.name, "version": self.version, "numbers": self.numbers}, ensure_ascii=False)


def golden(name: str, version: int, reply: Any) -> Golden:
    """A reply as the files keep it."""
    return Golden(name, version, _short(_numbers(reply)), _text(reply))


def all_releases() -> Iterator[Golden]:
    """Every golden release."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, release in chain(cases(), cases_of_changed_rows()):
            yield golden(name, _version(name), release())
        yield from _in_sessions()
        yield from _of_graphs()


def _version(name: str) -> int:
    """The version of the method that a case of `seeded_releases` is about; 0 where no method of the registry is."""
    statistic, *rest = name.split("/")
    return find_statistic(statistic).methods[rest[0]].version if rest and statistic in statistic_names() else 0


def _in_sessions() -> Iterator[Golden]:
    """Every statistic as a session answers it for persons with several rows, and in public groups."""
    for setting in ("person", "groups"):
        survey = session(SETTINGS[setting], allow_seeded=True)
        asker = survey.group_by("region", keys=GROUPS) if setting == "groups" else survey
        for call in calls(by_auto=True):
            ask: Callable[..., Any] = getattr(asker, call.statistic)
            reply = ask(*call.given, **call.words, rng=dp.testing.seeded(SEED))
            yield golden(f"{setting}/{call.name}", call.version, reply)


def _of_graphs() -> Iterator[Golden]:
    """Every statistic of graphs under both relations."""
    for protect in ("edge", "node"):
        for name in ("edge_count", "degree_distribution", "degree_sequence", "triangles", "k_stars", "clustering_coefficient"):
            try:
                ask: Callable[..., Any] = getattr(dp.graphs, name)
                reply = ask(EDGES, protect=protect, nodes=NODES, epsilon=1, rng=dp.testing.seeded(SEED))
            except dp.DpstatsError as error:
                reply = str(error)
            yield golden(f"graphs/{name}/{protect}", 0, reply)


def _numbers(reply: Any) -> Any:
    """All of a reply that is computed; the words of notes are in its text."""
    if isinstance(reply, NoReply):
        return "no reply"
    if isinstance(reply, Release):
        value, interval, intervals, _ = plain(reply)
        return {"value": value, "interval": interval, "intervals": intervals}
    if hasattr(reply, "replies"):
        return {str(key): _short(_numbers(each)) for key, each in reply.items()}
    return plain(reply)


def _short(numbers: Any) -> Any:
    text = json.dumps(numbers, ensure_ascii=False)
    if len(text) <= LONGEST:
        return numbers
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "begins": text[:200]}


def _text(reply: Any) -> str:
    """The printed line, and the card."""
    if isinstance(reply, Release) or hasattr(reply, "replies"):
        return f"{reply}\n{reply.card()}"
    return str(reply)


if __name__ == "__main__":
    for each in all_releases():
        print(each.line(), flush=True)  # noqa: T201
