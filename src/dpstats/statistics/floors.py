"""Floors: how many rows an answer needs at an epsilon, and what becomes of a question that has fewer.

Below the floor a question gets a refusal at full cost, which says about what an answer takes; or, where the asker wants it
(`rough=True`), the answer all the same, marked as rough. A statistic may have a lower floor for rough answers too.

Claim      Nothing is spent here: the verdict is a function of parameters and of a number of rows that has been released
Why        Post-processing. What is computed but not handed out costs as if it were, which is what a refusal costs
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.registry import NEEDED_EPSILON, Answer, Outcome, Question, Refusal
from dpstats.foundations.rounding import round_up
from dpstats.foundations.text_tables import counted

ROUGH_ADVICE = "; rough=True takes a rough answer."


@dataclass(frozen=True)
class Floor:
    """What an answer takes, as measured on tables whose truth is known."""

    nats: float
    """Rows times epsilon, where epsilon is the price of one row added or removed."""
    rows: float = 0.0
    """And whatever epsilon is, at least so many rows."""
    rough_nats: float = 0.0
    """Rows times epsilon below which there is no rough answer either."""
    unit: str = "row"
    """What is counted, where only some of the rows say anything: events, for example."""

    def rows_at(self, question: Question) -> float:
        """The rows that an answer to a question takes, from its parameters alone."""
        return max(self.nats / float(row_epsilon(question.epsilon, question.neighbors)), self.rows)

    def judge(self, question: Question, noisy_rows: float, answer: Answer) -> Outcome:
        """The answer; below the floor a refusal in its place, or where the question wants that, the answer marked as rough.

        Below the floor of rough answers there is a refusal, whatever the question wants.
        """
        refusal = self.refusal(question, noisy_rows)
        if refusal is None:
            return answer
        asked = replace(question, rough=False) if self._is_hopeless(question, noisy_rows) else question
        return self.refuse(asked, answer, refusal, self._rough_text(question, noisy_rows))

    @staticmethod
    def refuse(question: Question, answer: Answer, refusal: Refusal, why: str) -> Outcome:
        """A refusal that is due, or where the question wants that, the answer marked as rough: `why` is for its card."""
        return replace(answer, rough=why) if question.rough else refusal

    def refusal(self, question: Question, noisy_rows: float) -> Refusal | None:
        """The refusal that is due below the floor, whether or not a rough answer is wanted; None above it."""
        needed = self.rows_at(question)
        if noisy_rows >= needed:
            return None
        times = needed / noisy_rows if noisy_rows > 0 and noisy_rows > self.rows else None
        end = "." if self._is_hopeless(question, noisy_rows) else ROUGH_ADVICE
        return Refusal(
            f"{self._about(noisy_rows)} too few at this epsilon.",
            f"It takes about {self._needed_text(needed)}{NEEDED_EPSILON}{end}",
            times,
        )

    def _is_hopeless(self, question: Question, noisy_rows: float) -> bool:
        return self.rough_nats > 0.0 and noisy_rows < self.rough_nats / float(row_epsilon(question.epsilon, question.neighbors))

    def rows_text(self, question: Question) -> str:
        """The rows that an answer takes, in words."""
        return f"about {self._needed_text(self.rows_at(question))}"

    def note(self, question: Question) -> tuple[str, str]:
        """The card's line on the floor."""
        return "replies from", f"{self.rows_text(question)} at this epsilon; with fewer there is no reply"

    def _rough_text(self, question: Question, noisy_rows: float) -> str:
        needed = self._needed_text(self.rows_at(question))
        return f"{self._about(noisy_rows)} too few at this epsilon, which takes about {needed}: value and interval may be far off"

    def _about(self, noisy_rows: float) -> str:
        rows = max(0, round(noisy_rows))
        return f"About {counted(rows, self.unit)} {'is' if rows == 1 else 'are'}"

    def _needed_text(self, rows: float) -> str:
        return counted(round_up(math.ceil(rows)), self.unit)
