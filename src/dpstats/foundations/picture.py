"""A picture: what `plot()` gives where no file is named, so that a notebook shows it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing as SVG. Notebooks show it; `plot("plan.svg")` writes a file instead."""

    svg: str

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} characters of SVG: a notebook shows it, and plot('picture.svg') writes a file)"

    def _repr_svg_(self) -> str:
        return self.svg


def picture_or_file(path: str | Path | None, draw: Callable[[str | Path], None]) -> Picture | None:
    """Let `draw` write to a path and return None; without a path, the picture itself."""
    if path is not None:
        draw(path)
        return None
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "picture.svg"
        draw(target)
        return Picture(target.read_text(encoding="utf-8"))
