"""What is released, predicted and printed in documents is the same on the oldest processor that this one can stand in for.

`make anywhere` tries every setting, and the float-sensitive tests under each.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anywhere import changed_lines, differences, numbers_of, releases, settings
from tests.documents import DOCUMENTS
from tests.golden.files import RELEASES, kept_lines

OLDEST = next((setting for name, setting in settings().items() if name.startswith("oldest")), None)
needs_settings = pytest.mark.skipif(OLDEST is None, reason="this processor cannot stand in for an older one")


@needs_settings
def test_every_seeded_release_is_the_same_with_an_old_processors_loops_and_kernels() -> None:
    golden = numbers_of(kept_lines(RELEASES).values())
    assert len(golden) > 400
    assert list(differences(golden, releases(OLDEST))) == []


@needs_settings
def test_documents_print_there_what_they_print_here() -> None:
    assert changed_lines(OLDEST, DOCUMENTS) == []


def test_a_difference_in_the_last_digit_is_noticed(tmp_path: Path) -> None:
    one, other = {"mean": ["1.5", {"low": "0.1"}]}, {"mean": ["1.5", {"low": "0.10000000000000002"}]}
    assert list(differences(one, other)) == [(".mean[1].low", "0.1", "0.10000000000000002")]
    document = tmp_path / "sums.md"
    document.write_text("```python\nprint(0.1 + 0.2)\n```\n\n```text\n0.3\n```\n")
    assert changed_lines({}, [document]) == ["sums.md: -0.3", "sums.md: +0.30000000000000004"]
