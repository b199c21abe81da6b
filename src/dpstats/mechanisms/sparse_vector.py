"""Sparse vector: which answer is the first above a public threshold.

Claim      epsilon-DP for the whole run, however many questions are asked, if every answer moves by at most `sensitivity`
Neighbors  Whichever relation the caller's sensitivity is true for
Why        Compare each answer plus fresh noise with the threshold plus noise that is drawn once. A neighbour is matched by
           moving the threshold's noise by one sensitivity (threshold_epsilon); every "below" then stays below, and the
           single "above" needs its own noise to move by at most two (answer_epsilon). After it, the run is over.
Numerics   Answers are rounded down to sensitivity / 2**16 in exact arithmetic, which keeps the sensitivity at exactly 2**16
           units; both noises are exact discrete Laplace; the budget is split by a fixed rational
Source     Dwork & Roth 2014, Algorithm 1; Lyu, Su & Li 2017, Algorithm 7 (monotonic answers, the split 1 : 2**(2/3))
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.foundations.errors import SpentError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import NOT_PRIVATE, Card, claim_text
from dpstats.foundations.rounding import decimal_text, exact_rational
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.grid import Grid, positive_rational

METHOD = "above threshold"
CLAIM = "epsilon-DP for all replies together if every answer moves by at most sensitivity"
MONOTONIC_CLAIM = "epsilon-DP for all replies together if every answer moves by at most sensitivity, all in the same direction"
POLICY = (
    "an answer that is NaN or no number counts as the lowest possible answer; magnitudes stop at the largest float, and "
    "Decimals below 1e-5000 are 0"
)

UNITS = 1 << 16
"""Grid units in one sensitivity."""
THRESHOLD_SHARE = Fraction(3865, 10000)
"""The threshold's part of epsilon: about 1 / (1 + 2**(2/3)), which makes the noise of a comparison smallest."""
MONOTONIC_SHARE = Fraction(1, 2)


class AboveThreshold:
    """Asks answer after answer whether it is above a public threshold, until the first one is: epsilon-DP in total.

    The cost is paid when the object is made, also if no answer is ever above. Say `monotonic=True` only when one unit moves
    all answers in the same direction.
    """

    def __init__(
        self,
        threshold: object,
        *,
        sensitivity: object,
        epsilon: object,
        monotonic: bool = False,
        neighbors: object = Neighbors.ADD_REMOVE,
        rng: RandomSource | None = None,
    ) -> None:
        self.threshold = exact_rational(threshold, "threshold")
        self.sensitivity = positive_rational(sensitivity, "sensitivity")
        self.cost = PrivacyCost(spendable_epsilon(epsilon), 0, neighbors)
        self.monotonic = monotonic
        self.asked = 0
        self.spent = False
        self._source = source_or_system(rng)
        self._grid = Grid(self.sensitivity / UNITS)
        threshold_scale, self._answer_scale = noise_scales(self.cost.epsilon, monotonic)
        threshold_units = -(-self.threshold // self._grid.spacing)
        self._noisy_threshold = threshold_units + int(sample_discrete_laplace(threshold_scale, 1, self._source)[0])

    def ask(self, raw_answer: object) -> bool:
        """Whether the answer, with noise, reaches the threshold. The first True ends the run."""
        if self.spent:
            raise SpentError("this AboveThreshold has said 'above' and is spent: make a new one, at a new cost.")
        noise = int(sample_discrete_laplace(self._answer_scale, 1, self._source)[0])
        self.asked += 1
        self.spent = self._grid.floor_units(raw_answer) + noise >= self._noisy_threshold
        return self.spent

    def __repr__(self) -> str:
        state = "spent" if self.spent else f"{self.asked} asked"
        mark = "" if self._source.private else f" [{NOT_PRIVATE}]"
        return f"AboveThreshold({decimal_text(self.threshold)}, cost {self.cost}, {state}{mark})"

    def card(self) -> Card:
        """The passport of the run so far; all of it is public."""
        private = self._source.private
        return Card(
            f"above_threshold({decimal_text(self.threshold)}, sensitivity={decimal_text(self.sensitivity)})",
            (
                ("asked", str(self.asked)),
                ("reply", "the last answer was above" if self.spent else "none above so far"),
                ("cost", str(self.cost)),
                ("protects", f"neighbours: {self.cost.neighbors.describe(self.cost.unit)}"),
                ("method", METHOD),
                ("randomness", "cryptographic, from the operating system" if private else NOT_PRIVATE),
                ("claim", claim_text(MONOTONIC_CLAIM if self.monotonic else CLAIM, private)),
                ("grid", "answers are rounded down to multiples of sensitivity / 2**16"),
                ("policy", POLICY),
            ),
        )


def noise_scales(epsilon: Fraction, monotonic: bool) -> tuple[Fraction, Fraction]:
    """The scales, in grid units, of the threshold's noise and of each answer's."""
    threshold_epsilon = epsilon * (MONOTONIC_SHARE if monotonic else THRESHOLD_SHARE)
    answer_epsilon = epsilon - threshold_epsilon
    return UNITS / threshold_epsilon, (1 if monotonic else 2) * UNITS / answer_epsilon
