"""Reports of verifications that auditors have asked for, kept so that everybody with that role sees them."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from typing import Any

from dpstats.curator.ledger.ledger import Ledger
from dpstats.foundations.errors import InvalidParameterError
from dpstats.web.people.store import PeopleStore

MOST_ENTRIES = 300_000
"""That are verified here at once; of more the chain is downloaded, and verified elsewhere."""
MOST_COMPLAINTS = 100
SHOWN = 10


class Reports:
    """The reports in the service's file."""

    def __init__(self, store: PeopleStore) -> None:
        self._store = store
        self._turn = threading.Lock()

    def verify(self, ledger: Ledger, person: str, *, whole: bool) -> dict[str, Any]:
        """Verify a ledger, from its first entry or from where its witness knows that it was sound, and keep the report."""
        if not self._turn.acquire(blocking=False):
            raise InvalidParameterError("a verification is under way: wait until it is done.")
        try:
            report = _verified(ledger, whole=whole)
        finally:
            self._turn.release()
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        with self._store.writing() as file:
            file.execute("INSERT INTO verifications (time, person, report) VALUES (?, ?, ?)", (time, person, json.dumps(report)))
        return {"time": time, "person": person, **report}

    def latest(self) -> list[dict[str, Any]]:
        """The last reports, the newest first."""
        rows = self._store.rows("SELECT time, person, report FROM verifications ORDER BY id DESC LIMIT ?", SHOWN)
        return [{"time": time, "person": person, **json.loads(str(report))} for time, person, report in rows]


def _verified(ledger: Ledger, *, whole: bool) -> dict[str, Any]:
    known, last = ledger.testimony, ledger.last
    after = known.verified if known is not None and not whole else 0
    if last is not None and last.sequence - after > MOST_ENTRIES:
        raise InvalidParameterError(
            f"there are more than {MOST_ENTRIES:,} entries to verify: download the chain, and verify it on your machine."
        )
    found = ledger.verify_since(after, known.verified_hash) if known is not None and after else ledger.verify()
    return {
        "whole": not after,
        "after": after,
        "entries": found.entries,
        "head": found.head,
        "sound": found.sound,
        "signed": found.signatures.signed,
        "key": found.signatures.key,
        "signatures_checked": found.signatures.checked,
        "complaints": [str(each) for each in found.complaints[:MOST_COMPLAINTS]],
        "more_complaints": max(0, len(found.complaints) - MOST_COMPLAINTS),
    }
