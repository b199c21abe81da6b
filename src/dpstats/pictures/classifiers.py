"""The panels of classifiers: effects of all columns on one axis, and trees from left to right."""

from __future__ import annotations

from typing import Any

from dpstats.foundations.results import value_text
from dpstats.foundations.text_tables import shortened
from dpstats.pictures.looks import COLORS, Panel, as_written
from dpstats.pictures.parameters import LONGEST_NAME, name_margin

MOST_FEATURES, MOST_LEAVES, MOST_CLASSES = 40, 64, 6
_ROW = 0.24
_PALEST = 0.25


def effects_panel(model: Any) -> Panel:
    """The effects of each column, the strongest column first: a dot for each value, the darker the larger its number is."""
    strengths = model.strengths()
    order = sorted(range(len(strengths)), key=lambda place: -strengths[place])[:MOST_FEATURES]
    margin = name_margin([model.features[place].name for place in order])
    return Panel(0.9 + _ROW * len(order), lambda axes: _draw_effects(axes, model, order), margin)


def _draw_effects(axes: Any, model: Any, order: list[int]) -> None:
    classes = range(1, 2) if len(model.classes) == 2 else range(min(len(model.classes), MOST_CLASSES))
    axes.axvline(0, color=COLORS[6], linewidth=0.6)
    for line, place in enumerate(order):
        ordered = model.features[place].ordered
        for number, label in enumerate(classes):
            effects = model.effects[place][label].tolist()
            shift = 0.5 * ((number + 0.5) / len(classes) - 0.5)
            axes.hlines(line + shift, min(effects), max(effects), color=COLORS[number], linewidth=0.8, alpha=0.5)
            for code, effect in enumerate(effects):
                shade = _PALEST + (1 - _PALEST) * code / max(ordered - 1, 1) if code < ordered else 0.6
                axes.plot([effect], [line + shift], "o", color=COLORS[number], alpha=shade, markersize=4, markeredgewidth=0)
    names = [shortened(model.features[place].name, LONGEST_NAME) for place in order]
    axes.set_yticks(range(len(order)), [as_written(name) for name in names])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    of = [value_text(model.classes[label]) for label in classes]
    whose = f"the log odds of {of[0]}" if len(of) == 1 else "the scores of " + ", ".join(of) + " (one below the other)"
    axes.set_xlabel(as_written(f"effect on {shortened(whose, 80)}; darker dots: larger numbers"))


def tree_panel(model: Any) -> Panel:
    """A tree from left to right, with a line of text for each leaf."""
    leaves = min(len(model.counts), MOST_LEAVES)
    return Panel(0.6 + _ROW * leaves, lambda axes: _draw_tree(axes, model))


def _draw_tree(axes: Any, model: Any) -> None:
    axes.set_axis_off()
    every = model.text().splitlines()
    lines = every[: 2 * MOST_LEAVES]
    if len(every) > len(lines):
        lines.append(f"... and {len(every) - len(lines)} more lines: print the summary")
    for number, line in enumerate(lines):
        text = line.lstrip()
        depth = (len(line) - len(text)) // 2
        is_leaf = ": " in text
        axes.text(
            depth, number, as_written(text), fontsize=8, color=COLORS[6] if is_leaf else COLORS[0], verticalalignment="center"
        )
        if depth:
            axes.plot([depth - 0.5, depth - 0.1], [number, number], color=COLORS[4], linewidth=0.8)
    axes.set_xlim(-0.2, max(model.depth, 1) + 4)
    axes.set_ylim(len(lines) - 0.5, -0.5)
