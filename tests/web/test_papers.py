"""Papers of the service: documents that were asked."""

from __future__ import annotations

import threading
from pathlib import Path

from dpstats.web.papers import Papers
from dpstats.web.people.store import PeopleStore


def test_documents_that_come_at_one_moment_are_written_together_and_all_are_kept(tmp_path: Path) -> None:
    store = PeopleStore(tmp_path / "people.sqlite")
    papers, together = Papers(store), threading.Barrier(9)

    def note(number: int) -> None:
        together.wait()
        papers.note_asked("survey", number, "ana", {"number": number})

    threads = [threading.Thread(target=note, args=(number,)) for number in range(8)]
    with store.writing():  # nobody can write yet, so that all of them wait
        for each in threads:
            each.start()
        together.wait()
    for each in threads:
        each.join()
    assert papers.asked("survey", "ana") == {number: {"number": number} for number in range(8)}
    store.close()
