"""Groups: one question in every group of rows, in few passes over the table.

Where the rows of all groups lie in memory, or fit into it, they are split once. Otherwise every group's question runs in lockstep
with the others, so that one pass serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from dpstats.engines.cells import Cells, ColumnType
from dpstats.engines.exact.thinned import IN_MEMORY, Room
from dpstats.engines.groups.keys import GroupKeys, Key, count_keys
from dpstats.engines.groups.splits import GroupRows, Split
from dpstats.engines.passes.collectors import Collector
from dpstats.engines.passes.columns import column_by, is_remote, read_as
from dpstats.engines.passes.lockstep import answer_in_lockstep, answer_one_by_one
from dpstats.engines.passes.scans import C, RowPass, feed
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import Column

__all__ = ["GroupKeys", "Key", "answer_groups", "count_keys"]

T = TypeVar("T")

SPLIT_ROWS = 1 << 25
"""Rows of all groups together that may be read into memory and split."""
GROUPS_AT_ONCE = 4096
"""Groups, each with a thread, that passes are made for at the same time."""
HELD_ROWS = 1 << 20, 1 << 23
"""Rows that a pass holds before it shows them to the groups: at least, and at most where there are many groups."""
ROWS_PER_GROUP = 1 << 11
SAMPLED_ROWS = 1 << 24
"""Rows that the samples of all groups may hold together."""
REMOTE_ROWS = 1 << 17
"""Rows of all groups' samples together that one place sends."""


def answer_groups(
    store: Store, view: TableView, group_keys: GroupKeys, name: str, numeric: bool, answer: Callable[[Key, Column], T]
) -> dict[Key, T]:
    """What `answer` says for every key on the list, from a column of the rows that have this key.

    It is called once for each key, also for those without rows, and perhaps in threads: it must not wait for its own other calls.
    An error of it is raised when all calls have ended; an error of a pass is raised where `answer` asks its column.
    """
    kind = read_as(view, name, numeric=numeric)
    columns = view.needs([*group_keys.columns, name])
    if not group_keys.keys:
        return {}
    if not is_remote(store):
        job = SplitJob(view, group_keys, name, kind, None if store.in_memory else SPLIT_ROWS)
        raw_split = store.run(job, columns)
        if raw_split is not None:
            found = answer_one_by_one(
                (partial(_ask, answer, group_keys.keys[rows.group], kind=kind, room=IN_MEMORY, numeric=numeric), RowsRun(rows))
                for rows in raw_split.by_group(all_groups=True)
            )
            return dict(zip(group_keys.keys, found, strict=True))
    answers: dict[Key, T] = {}
    numbers = iter(range(len(group_keys.keys)))
    while chosen := list(islice(numbers, GROUPS_AT_ONCE)):
        room = _room(len(chosen), is_remote(store))
        questions = [partial(_ask, answer, group_keys.keys[number], kind=kind, room=room, numeric=numeric) for number in chosen]

        def make_pass(posted: Mapping[int, Collector], chosen: Sequence[int] = chosen) -> Mapping[int, Collector]:
            collectors = {chosen[place]: collector for place, collector in posted.items()}
            filled = store.run(GroupScan(view, group_keys, name, kind, collectors), columns)
            return {place: filled.collectors[chosen[place]] for place in posted}

        found = answer_in_lockstep(questions, make_pass)
        answers.update(zip((group_keys.keys[number] for number in chosen), found, strict=True))
    return answers


def _ask(answer: Callable[[Key, Column], T], key: Key, run: RowPass, *, kind: ColumnType, room: Room, numeric: bool) -> T:
    return answer(key, column_by(run, kind, room, numeric=numeric))


def _room(groups: int, remote: bool) -> Room:
    """The room of each group's sample: they share it, but each has some."""
    merged = max(1 << 10, min(1 << 18, SAMPLED_ROWS // groups))
    return Room(max(1 << 6, min(1 << 14, REMOTE_ROWS // groups)), merged) if remote else Room(merged, merged)


@dataclass(frozen=True)
class RowsRun:
    """Passes over the rows of one group in memory."""

    rows: GroupRows

    def __call__(self, collector: C, /) -> C:
        """Make one pass."""
        filled = collector.fresh()
        feed(filled, self.rows.cells, self.rows.stored)
        return filled


@dataclass(frozen=True)
class SplitJob:
    """A job: the rows of all groups, split; None where they are more than `limit`."""

    view: TableView
    keys: GroupKeys
    name: str
    kind: ColumnType
    limit: int | None

    def scan(self, batches: Iterable[Batch]) -> Split | None:
        """Hold the rows of some batches; it reads no further where they are too many."""
        split = Split(len(self.keys.keys))
        for batch in batches:
            viewed = self.view.on(batch)
            split.add(self.keys.codes(viewed), viewed.parts(self.name, self.kind))
            if self.limit is not None and split.rows > self.limit:
                return None
        return split

    def merge(self, parts: Sequence[Split | None]) -> Split | None:
        """All rows together, if they are few enough."""
        whole = Split(len(self.keys.keys))
        for part in parts:
            if part is None or (self.limit is not None and whole.rows + part.rows > self.limit):
                return None
            whole.absorb(part)
        return whole


@dataclass
class Filled:
    """Collectors of groups by the number of the group, and cells without rows that tell the types."""

    collectors: dict[int, Any]
    empty: list[Cells]


@dataclass(frozen=True)
class GroupScan:
    """A job: a collector for each of some groups, which are known by their numbers."""

    view: TableView
    keys: GroupKeys
    name: str
    kind: ColumnType
    collectors: Mapping[int, Collector]

    def scan(self, batches: Iterable[Batch]) -> Filled:
        """Show the rows of every group to its collector; only those that saw some come back."""
        wanted = np.full(len(self.keys.keys) + 1, -1, dtype=np.int64)
        numbers = list(self.collectors)
        wanted[numbers] = np.arange(len(numbers))
        least, most = HELD_ROWS
        enough = max(least, min(most, ROWS_PER_GROUP * len(numbers)))
        split = Split(len(numbers))
        filled = Filled({}, [])
        for batch in batches:
            viewed = self.view.on(batch)
            codes = wanted[self.keys.codes(viewed)]  # no group has the code -1, and neither has the last place of `wanted`
            split.add(codes, viewed.parts(self.name, self.kind))
            if split.rows >= enough:
                self._show(split, numbers, filled)
        self._show(split, numbers, filled)
        return filled

    def merge(self, parts: Sequence[Filled]) -> Filled:
        """All parts in one; groups without rows learn the types."""
        whole = Filled({number: collector.fresh() for number, collector in self.collectors.items()}, [])
        for part in parts:
            whole.empty = whole.empty or part.empty
            for number, collector in part.collectors.items():
                whole.collectors[number].absorb(collector)
        for collector in whole.collectors.values():
            feed(collector, whole.empty, 0)
        return whole

    def _show(self, split: Split, numbers: Sequence[int], filled: Filled) -> None:
        filled.empty = filled.empty or split.empty()
        for rows in split.by_group():
            number = numbers[rows.group]
            if number not in filled.collectors:
                filled.collectors[number] = self.collectors[number].fresh()
            feed(filled.collectors[number], rows.cells, rows.stored)
