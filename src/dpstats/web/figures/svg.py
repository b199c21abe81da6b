"""SVG texts: elements that hold nothing but escaped texts, numbers and looks that are listed here.

Across, places are per cent of the figure's width, and downwards pixels, so that a figure is as wide as its page while its letters
stay as they are. Colours are presentation attributes, for the figure as a file of its own, and classes, by which a page's style
sheet gives it the colours of the day or of the night. There are no style attributes and no scripts.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

WIDTH = 640
"""Of a figure as a file."""
LETTER = 12.5
LOOKS = {
    "mark": {"fill": "#0b5d7a"},
    "bar": {"fill": "#9dbfcd"},
    "edge-bar": {"fill": "#d3e1e7"},
    "whisker": {"stroke": "#0b5d7a", "stroke-width": "2.5", "stroke-linecap": "round"},
    "grid": {"stroke": "#d9d6cf", "stroke-width": "1"},
    "zero": {"stroke": "#57606a", "stroke-width": "1", "stroke-dasharray": "3 3"},
    "curve": {"fill": "none", "stroke": "#0b5d7a", "stroke-width": "2"},
    "band": {"fill": "#0b5d7a", "fill-opacity": "0.18"},
    "rest": {"fill": "#e7e3da"},
    "tick": {"stroke": "#1b1f24", "stroke-width": "1.5"},
    "tick-mark": {"fill": "#1b1f24"},
    "words": {"fill": "#1b1f24"},
    "quiet": {"fill": "#57606a"},
    "strong": {"fill": "#1b1f24", "font-weight": "600"},
    "cap": {"fill": "none", "stroke": "#a4212b", "stroke-width": "2", "stroke-dasharray": "6 4"},
    "series-0": {"fill": "#0b5d7a"},
    "series-1": {"fill": "#d98b2b"},
    "series-2": {"fill": "#5b8c5a"},
    "series-3": {"fill": "#8d6a9f"},
    "series-4": {"fill": "#c0616b"},
    "series-5": {"fill": "#8a8f98"},
}
"""What elements look like by their class, which is this name after `fig-`."""


class Drawing:
    """A figure that is being drawn."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def line(self, look: str, across: tuple[float, float], down: tuple[float, float]) -> None:
        """A line from one place to another."""
        places = {"x1": _percent(across[0]), "x2": _percent(across[1]), "y1": _pixels(down[0]), "y2": _pixels(down[1])}
        self._parts.append(_element("line", look, places))

    def rectangle(
        self,
        look: str,
        across: tuple[float, float],
        down: tuple[float, float],
        *,
        about: str = "",
        round: float = 0,
        shade: float = 1,
    ) -> None:
        """A rectangle between two places; `about` is what it stands for, `shade` how dark it is."""
        places = {
            "x": _percent(across[0]),
            "width": _percent(max(across[1] - across[0], 0)),
            "y": _pixels(down[0]),
            "height": _pixels(max(down[1] - down[0], 0)),
        }
        places |= ({"rx": _pixels(round)} if round else {}) | ({"fill-opacity": f"{shade:.3f}"} if shade < 1 else {})
        self._parts.append(_element("rect", look, places, _title(about)))

    def dot(self, across: float, down: float, radius: float = 5, *, about: str = "") -> None:
        """A dot."""
        places = {"cx": _percent(across), "cy": _pixels(down), "r": _pixels(radius)}
        self._parts.append(_element("circle", "mark", places, _title(about)))

    def text(self, words: str, across: float, down: float, *, look: str = "words", anchor: str = "start") -> None:
        """Words; `anchor` says which of their ends, or the middle, is at the place."""
        places = {"x": _percent(across), "y": _pixels(down), "text-anchor": anchor}
        self._parts.append(_element("text", look, places, _printable(words)))

    def shape(self, tag: str, look: str, points: list[tuple[float, float]], down: tuple[float, float]) -> None:
        """A polyline or a polygon; its points are per cent across and, as parts of 1, down from the first pixel to the second."""
        listed = " ".join(f"{x:.3f},{100 * y:.3f}" for x, y in points)
        inner = _element(tag, look, {"points": listed, "vector-effect": "non-scaling-stroke"})
        frame = {
            "x": "0",
            "y": _pixels(down[0]),
            "width": "100%",
            "height": _pixels(down[1] - down[0]),
            "viewBox": "0 0 100 100",
            "preserveAspectRatio": "none",
        }
        self._parts.append(_element("svg", "", frame, inner))

    def svg(self, height: float, words: str) -> str:
        """The figure, to stand in a page; `words` say what it shows."""
        named = {
            "class": "drawn",
            "role": "img",
            "width": "100%",
            "height": _pixels(height),
            "font-size": str(LETTER),
            "xmlns": "http://www.w3.org/2000/svg",
        }
        return _element("svg", "", named, f"{_title(words)}{''.join(self._parts)}")


def as_file(svg: str) -> bytes:
    """A figure as a file of its own: as wide as a page, on white."""
    start = svg.replace('width="100%"', f'width="{WIDTH}" font-family="sans-serif"', 1)
    head, found, rest = start.partition("</title>")
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{found}{paper}{rest}\n'.encode()


def _element(tag: str, look: str, attributes: dict[str, str], inside: str = "") -> str:
    looks = {"class": f"fig-{look}", **LOOKS[look]} if look else {}
    listed = "".join(f" {name}={quoteattr(value)}" for name, value in (looks | attributes).items())
    return f"<{tag}{listed}>{inside}</{tag}>" if inside else f"<{tag}{listed}/>"


def _title(words: str) -> str:
    return f"<title>{_printable(words)}</title>" if words else ""


def _printable(words: str) -> str:
    """Escaped words, without letters that XML does not know."""
    return escape("".join(letter if letter.isprintable() else " " for letter in words), {'"': "&quot;", "'": "&#39;"})


def _percent(place: float) -> str:
    return f"{place:.3f}%"


def _pixels(place: float) -> str:
    return f"{place:g}"
