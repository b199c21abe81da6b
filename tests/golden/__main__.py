"""`make golden`: writes the golden files again. See the package."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.golden import ledger
from tests.golden.files import CARDS, QUESTIONS, RELEASES, SCHEMA, card_file, kept_cards, refused_changes, refused_questions
from tests.golden.questions import all_questions, schema
from tests.golden.releases import all_releases


def main(arguments: list[str]) -> int:
    """Write the files, unless a change is refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--words", action="store_true", help="take words of cards and lines that changed: read them first")
    parser.add_argument("--order", action="store_true", help="take numbers of groups whose draws come in another order")
    asked = parser.parse_args(arguments)
    releases, questions = list(all_releases()), dict(all_questions())
    complaints = refused_changes(releases, words=asked.words, order=asked.order)
    complaints += refused_questions(questions)
    for complaint in complaints:
        print(complaint)  # noqa: T201
    if complaints and kept_cards():
        print("Nothing was written.")  # noqa: T201
        return 1
    RELEASES.write_text("".join(f"{each.line()}\n" for each in releases), encoding="utf-8")
    CARDS.write_text(card_file(releases), encoding="utf-8")
    QUESTIONS.write_text("".join(f"{line}\n" for line in questions.values()), encoding="utf-8")
    SCHEMA.write_text(schema(), encoding="utf-8")
    if not ledger.FROZEN.exists():
        with tempfile.TemporaryDirectory() as folder:
            ledger.write(Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
