"""The panels of trees of boxes: a density as a curve with its band or as a map, classes of neighbours as a map.

Of more than two columns there is no picture; nothing but the released value is looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.pictures.looks import COLORS, Panel, as_written

PLACES, SQUARES = 400, 90
"""Points of a curve, and along each side of a map."""
SMOOTH = 100
"""Neighbours of a point in a picture: more than usual, so that the eye sees what many rows say."""
_CURVE, _MAP = 2.6, 4.0


def density_panel(density: Any) -> Panel | None:
    """A curve of one column, a map of two."""
    columns = len(density.names)
    if columns == 1:
        return Panel(_CURVE, lambda axes: _draw_curve(axes, density))
    return Panel(_MAP, lambda axes: _draw_map(axes, density)) if columns == 2 else None


def neighbors_panel(neighbors: Any) -> Panel | None:
    """Of one column the shares of classes along it; of two the class that most rows have, at each place."""
    columns = len(neighbors.names)
    if columns == 1:
        return Panel(_CURVE, lambda axes: _draw_shares(axes, neighbors))
    return Panel(_MAP, lambda axes: _draw_classes(axes, neighbors)) if columns == 2 else None


def _draw_curve(axes: Any, density: Any) -> None:
    ((low, high),) = density.window()
    places = _spaced(low, high, PLACES)
    values, band = density(places), density.interval(places)
    axes.fill_between(places, band.low, band.high, color=COLORS[0], alpha=0.2, linewidth=0)
    axes.plot(places, values, color=COLORS[0], linewidth=1.5)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(as_written(density.names[0]))
    axes.set_ylabel("density; band: 95%, noise and sampling")


def _draw_map(axes: Any, density: Any) -> None:
    first, second, points = _squares(density)
    values = density(points).reshape(SQUARES, SQUARES)
    drawn = axes.pcolormesh(first, second, values.T, cmap="Blues", vmin=0.0, shading="nearest", rasterized=True)
    axes.figure.colorbar(drawn, ax=axes, label="density")
    _name_axes(axes, density.names)


def _draw_shares(axes: Any, neighbors: Any) -> None:
    ((low, high),) = neighbors.window()
    places = _spaced(low, high, PLACES)
    shares = neighbors.predict_proba(places, SMOOTH)
    for place, label in enumerate(neighbors.classes):
        axes.plot(places, shares[:, place], color=COLORS[place % len(COLORS)], linewidth=1.5, label=as_written(str(label)))
    axes.set_ylim(0, 1)
    axes.legend(frameon=False)
    axes.set_xlabel(as_written(neighbors.names[0]))
    axes.set_ylabel("part of the rows around here")


def _draw_classes(axes: Any, neighbors: Any) -> None:
    first, second, points = _squares(neighbors)
    shares = neighbors.predict_proba(points, SMOOTH)
    most = shares.argmax(axis=1)
    palette = np.array([[int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)] for color in COLORS])
    strength = (0.2 + 0.8 * shares.max(axis=1))[:, np.newaxis]
    image = (strength * palette[most % len(COLORS)] + 1 - strength).reshape(SQUARES, SQUARES, 3).transpose(1, 0, 2)
    axes.imshow(image, extent=(first[0], first[-1], second[0], second[-1]), origin="lower", aspect="auto")
    for place, label in enumerate(neighbors.classes):
        axes.plot([], [], "s", color=COLORS[place % len(COLORS)], label=as_written(str(label)))
    axes.set_xlim(first[0], first[-1])
    axes.set_ylim(second[0], second[-1])
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, title="most rows\naround here", fontsize=8)
    _name_axes(axes, neighbors.names)


def _squares(value: Any) -> tuple[Any, Any, Any]:
    """Places along both axes of a map, and all points of it."""
    (low, high), (lower, upper) = value.window()
    first, second = _spaced(low, high, SQUARES), _spaced(lower, upper, SQUARES)
    return first, second, np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)


def _spaced(low: float, high: float, places: int) -> Any:
    return np.linspace(low, high, places)


def _name_axes(axes: Any, names: tuple[str, ...]) -> None:
    axes.set_xlabel(as_written(names[0]))
    axes.set_ylabel(as_written(names[1]))
