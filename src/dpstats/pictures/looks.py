"""The looks that all pictures share, and the one home of matplotlib.

The same content gives the same bytes, in SVG with its texts as texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpstats.foundations.errors import DataFileError, InvalidParameterError, MissingExtraError

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's colours, which most people with colour blindness tell apart."""
MARKERS = "os^Dv<P"
_METADATA: dict[str, dict[str, str | None]] = {".svg": {"Date": None, "Creator": "dpstats"}, ".png": {"Software": "dpstats"}}

_SETTINGS = {
    "svg.hashsalt": "dpstats",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class Panel:
    """How high a panel should be, in inches, and what draws it on given axes."""

    height: float
    draw: Callable[[Any], None]
    margin: int = 0
    """How many letters names take to the left of the axes, where the title begins."""


@contextmanager
def figure_for(path: str | Path, width: float, height: float, *, description: str = "") -> Iterator[Any]:
    """A figure of `width` by `height` inches to draw on; it is written to an .svg or .png file afterwards.

    `description` goes into the file's own description. Needs matplotlib: pip install 'dpstats[plots]'.
    """
    target = checked_target(path)
    kind = target.suffix.lower()
    matplotlib, figure_class = _matplotlib()
    with matplotlib.rc_context(_SETTINGS):
        figure = figure_class(figsize=(width, height), layout="constrained")
        yield figure
        words = {"Description": description} if description else {}
        try:
            figure.savefig(target, format=kind[1:], metadata={**_METADATA[kind], **words}, dpi=150)
        except OSError:
            raise DataFileError(f"cannot write the picture {target.name!r}: is its folder there, and writable?") from None


def as_written(text: str) -> str:
    """A text that matplotlib shows as it is, whatever dollar signs are in it."""
    return text.replace("$", r"\$")


def checked_target(path: str | Path) -> Path:
    """Where a picture goes; an error where it is no picture."""
    target = Path(path)
    if target.suffix.lower() not in _METADATA:
        raise InvalidParameterError(f"a picture is written to a file that ends in .svg or .png, got {target.name!r}.")
    return target


def check_can_draw(path: str | Path) -> None:
    """Raise where a picture could not be drawn, before anything is spent on it."""
    target = checked_target(path)
    if not target.absolute().parent.is_dir():
        raise DataFileError(f"cannot write the picture {target.name!r}: its folder is not there.")
    _matplotlib()


def _matplotlib() -> tuple[Any, Any]:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.about("pictures need matplotlib", "plots") from None
    return matplotlib, Figure
