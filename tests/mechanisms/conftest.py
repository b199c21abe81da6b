"""What the mechanisms' tests share: a source that plays a script, and a test of fit to an exact law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest
from scipy.stats import chi2

from dpstats.foundations.randomness import seeded
from tests.laws.mechanisms import ABOVE, BELOW


class ScriptedSource:
    """Plays the given bytes first and goes on with a seeded stream."""

    private = False

    def __init__(self, script: bytes) -> None:
        self._script = script
        self._rest = seeded(7)

    def octets(self, count: int) -> bytes:
        """The next bytes of the script, then of the stream."""
        played, self._script = self._script[:count], self._script[count:]
        return played + self._rest.octets(count - len(played))


def play_words(words: Sequence[int], then: bytes = b"") -> ScriptedSource:
    """A source whose first toss shows these 16-bit words (padded to whole 64-bit words), followed by `then`."""
    padding = [1] * (-len(words) % 4)
    return ScriptedSource(b"".join(word.to_bytes(2, "little") for word in [*words, *padding]) + then)


@pytest.fixture
def script() -> Callable[..., ScriptedSource]:
    """Builds a source that plays given 16-bit words first."""
    return play_words


def p_value(samples: Iterable[object], law: Mapping[object, object]) -> float:
    """The chi-square p-value of the samples under the law; rare outcomes are pooled."""
    numbers = [key for key in law if key not in (BELOW, ABOVE)]
    windowed = BELOW in law
    lowest = min(numbers) if windowed else None  # type: ignore[type-var]
    observed: Counter[object] = Counter()
    for sample in samples:
        outside = windowed and sample not in law
        observed[(BELOW if sample < lowest else ABOVE) if outside else sample] += 1  # type: ignore[operator]
    total = sum(observed.values())
    cells, pooled, pooled_expected = [], 0, 0.0
    for outcome, probability in law.items():
        expected = total * float(probability)  # type: ignore[arg-type]
        if expected < 10:
            pooled, pooled_expected = pooled + observed[outcome], pooled_expected + expected
        else:
            cells.append((observed[outcome], expected))
    if pooled_expected >= 1:
        cells.append((pooled, pooled_expected))
    statistic = sum((count - expected) ** 2 / expected for count, expected in cells)
    return float(chi2.sf(statistic, len(cells) - 1))


@pytest.fixture
def fit() -> Callable[[Iterable[object], Mapping[object, object]], float]:
    """The chi-square p-value of samples under a law."""
    return p_value
