"""A question with the lines that are planned for it, each read off the stored tables or simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.plan_rows import Figures, Found, PlanRow
from dpstats.curator.planning.searches import CANDIDATES, LAST, AsRow, EpsilonSearch, repriced
from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.simulations import SimulatedLine, Trials, figures_of, row_of
from dpstats.curator.planning.stored_tables import StoredQuestion, tables_for
from dpstats.curator.planning.widths import WantedWidth
from dpstats.curator.planning.work import MOST_WORK, WorkLeft, refuse_too_much
from dpstats.curator.planning.yardsticks import Scale, Yardstick, is_in_probabilities, measured, scale_of
from dpstats.foundations.progress import Progress
from dpstats.foundations.registry import Question


@dataclass
class PlannedQuestion:
    """A question, the sizes and shapes on which it is planned, and where figures come from."""

    question: Question
    sizes: Sequence[int]
    shapes: Sequence[Shape]
    as_row: AsRow
    """Makes of a question, priced for a unit, what is asked of the rows."""
    seed: int
    from_tables: bool
    """Whether stored tables may be read."""

    @cached_property
    def stored(self) -> StoredQuestion | None:
        """The stored tables of the question."""
        return tables_for(self.as_row(self.question)) if self.from_tables else None

    @cached_property
    def scale(self) -> Scale:
        """What percentages of answers are taken of."""
        return scale_of(self.question) if self.stored is None else self.stored.scale

    @cached_property
    def lines(self) -> list[SimulatedLine]:
        """Every size with every shape."""
        yardsticks = [self._yardstick(shape) for shape in self.shapes]
        return [
            SimulatedLine(shape, size, yardstick, self.scale, self.seed)
            for size in self.sizes
            for shape, yardstick in zip(self.shapes, yardsticks, strict=True)
        ]

    def _yardstick(self, shape: Shape) -> Yardstick:
        known = None if self.stored is None else self.stored.on(shape)
        return measured(self.question, shape) if known is None else known.yardstick

    def stored_figures(self, line: SimulatedLine, epsilon: Fraction, *, roughly: bool = False) -> Figures | None:
        """What the stored tables say about a line; None where it is not in them."""
        known = None if self.stored is None else self.stored.on(line.shape)
        if known is None:
            return None
        return known.at(line.rows, float(self.as_row(repriced(self.question, epsilon)).epsilon), roughly=roughly)

    def row(self, line: SimulatedLine, epsilon: Fraction, figures: Figures, found: Found = Found.ASKED) -> PlanRow:
        """A line of the plan."""
        priced = repriced(self.question, epsilon)
        return row_of(line, self.as_row(priced), priced.cost, figures, found)

    def plan(self, rows: Sequence[PlanRow], wanted: str = "", text: str = "") -> Plan:
        """The plan that these lines make; `text` is the question for people, where it is more than it says itself."""
        in_probabilities = any(is_in_probabilities(line.yardstick.value) for line in self.lines)
        return Plan(
            text or str(self.question),
            tuple(rows),
            tuple((each.name, each.summary) for each in self.shapes),
            "probabilities" if in_probabilities else "in the unit of the answer",
            self.scale.value,
            wanted,
            {} if self.stored is None else self.stored.differs,
        )


def plans_at_epsilon(planned: Sequence[PlannedQuestion], repeats: int) -> list[Plan]:
    """The plans of questions at their own epsilons; what is not in the stored tables is simulated."""
    figures = [[each.stored_figures(line, each.question.epsilon) for line in each.lines] for each in planned]
    missing = [(which, place) for which, known in enumerate(figures) for place, each in enumerate(known) if each is None]
    refuse_too_much(len(missing), repeats)
    with Progress(len(missing) * repeats) as progress:

        def simulated(which: int, place: int, numbers: range) -> Trials:
            each = planned[which]
            line = each.lines[place]
            progress.begin(f"{line.shape.name}, {line.rows:,} rows")
            return line.replies_and_bare(each.as_row(each.question), numbers, progress.step)

        first = [simulated(*each, range(1)) for each in missing]
        refuse_too_much(len(missing), repeats, [trials.drawn for trials in first])
        for (which, place), begun in zip(missing, first, strict=True):
            rest = simulated(which, place, range(1, repeats))
            figures[which][place] = figures_of([*begun.noisy, *rest.noisy], [*begun.bare, *rest.bare])
    return [
        each.plan([each.row(line, each.question.epsilon, known) for line, known in zip(each.lines, found, strict=True) if known])
        for each, found in zip(planned, figures, strict=True)
    ]


def plans_for_width(planned: Sequence[PlannedQuestion], repeats: int, wanted: WantedWidth) -> list[Plan]:
    """The plans of questions at the smallest epsilon that reaches a half-width, on each line."""
    limits = [[wanted.on(each.scale, line.shape, line.truth) for line in each.lines] for each in planned]
    lines = sum(map(len, limits))
    refuse_too_much(lines, repeats)
    with Progress(None) as progress:
        return [
            each.plan(
                [
                    _row_for_width(each, line, limit, repeats, progress, WorkLeft(MOST_WORK // lines))
                    for line, limit in zip(each.lines, own, strict=True)
                ],
                wanted.text(each.scale),
            )
            for each, own in zip(planned, limits, strict=True)
        ]


def stored_rows(planned: PlannedQuestion, wanted: WantedWidth | None) -> list[PlanRow | None]:
    """The lines of a plan from the stored tables alone, None where a line is not in them; nothing is simulated.

    Where a smaller epsilon than any in the tables may reach the half-width, the line is theirs with `Found.OR_LESS`.
    """
    if planned.stored is None or any(planned.stored.on(shape) is None for shape in planned.shapes):
        return [None] * (len(planned.sizes) * len(planned.shapes))
    return [_stored_row(planned, line, wanted) for line in planned.lines]


def _stored_row(planned: PlannedQuestion, line: SimulatedLine, wanted: WantedWidth | None) -> PlanRow | None:
    if wanted is None:
        epsilon = planned.question.epsilon
        figures = planned.stored_figures(line, epsilon)
        return None if figures is None else planned.row(line, epsilon, figures)
    if planned.stored_figures(line, CANDIDATES[LAST], roughly=True) is None:
        return None
    place, figures, found = smallest_stored(planned, line, wanted.on(planned.scale, line.shape, line.truth))
    return planned.row(line, CANDIDATES[place], figures, found)


def _row_for_width(
    planned: PlannedQuestion, line: SimulatedLine, limit: float, repeats: int, progress: Progress, work: WorkLeft
) -> PlanRow:
    """The line at the smallest epsilon that reaches a half-width: by the stored tables as far as they go, then by simulation."""
    start = LAST
    if planned.stored_figures(line, CANDIDATES[LAST], roughly=True) is not None:
        start, figures, found = smallest_stored(planned, line, limit)
        if found is not Found.OR_LESS:
            return planned.row(line, CANDIDATES[start], figures, found)
    search = EpsilonSearch(line, planned.question, limit, repeats, planned.as_row, progress, work, start)
    epsilon, found = search.run()
    if start < LAST and epsilon == CANDIDATES[start]:
        return planned.row(line, epsilon, figures, found)
    asked = planned.as_row(repriced(planned.question, epsilon))
    return planned.row(line, epsilon, figures_of(search.trials(epsilon), line.bare(asked, repeats)), found)


def smallest_stored(planned: PlannedQuestion, line: SimulatedLine, limit: float) -> tuple[int, Figures, Found]:
    """The smallest candidate that reaches a half-width by the stored tables, with its figures.

    `Found.OR_LESS` where it is the smallest that they have.
    """

    def at(place: int) -> Figures | None:
        return planned.stored_figures(line, CANDIDATES[place], roughly=True)

    def reaches(figures: Figures | None) -> bool:
        is_narrow = figures is not None and figures.half_width is not None and figures.half_width <= limit
        return is_narrow and figures is not None and 2 * figures.reply_probability >= 1

    reached, known = LAST, at(LAST)
    assert known is not None
    if not reaches(known):
        return LAST, known, Found.NONE
    missed, ends = -1, True  # whether what was missed is only not in the tables
    while reached - missed > 1:
        tried = (missed + reached) // 2
        figures = at(tried)
        if figures is not None and reaches(figures):
            reached, known = tried, figures
        else:
            missed, ends = tried, figures is None
    return reached, known, Found.OR_LESS if ends else Found.SMALLEST
