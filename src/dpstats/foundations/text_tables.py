"""Tables of short texts, for terminals and for notebooks: every table that the library prints is laid out here."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Mapping, Sequence

GAP = "  "
HtmlRows = Iterable[Iterable[str]]
_LEFT, _RIGHT = "text-align:left", "text-align:right"


def shortened(text: str, longest: int) -> str:
    """The text; where it is longer than `longest`, its beginning with three dots."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def counted(number: float, one: str, several: str | None = None) -> str:
    """A number with its noun: "1 row", "2,000 rows"; `several` is the plural where that is not `one` and an s."""
    text = f"{number:,.0f}"
    return f"{text} {one if text == '1' else several or f'{one}s'}"


def free_name(name: str, taken: Collection[str]) -> str:
    """The name of a further column of a table, with underscores where columns are called so already."""
    while name in taken:
        name += "_"
    return name


def table_lines(rows: Sequence[Sequence[str]], left: Collection[int] | None = None) -> list[str]:
    """One line for each row, in columns of one width each.

    The columns whose numbers are in `left` stand to the left, by default all; the others to the right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<" if left is None or place in left else ">" for place in range(len(widths))]
    lines = ((f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True)) for row in rows)
    return [GAP.join(line).rstrip() for line in lines]


def headed_lines(rows: Mapping[str, str] | Iterable[tuple[str, str]]) -> list[str]:
    """One indented line for each heading and its text; the texts stand below each other."""
    pairs = list(rows.items() if isinstance(rows, Mapping) else rows)
    width = max((len(heading) for heading, _ in pairs), default=0)
    return [f"{GAP}{heading:<{width}}{GAP}{text}" for heading, text in pairs]


def ruled_table(top: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str] = ()) -> list[str]:
    """The lines of `top`, the first being the heading, then the rows, the first being the heads; with rules between."""
    heads, *lines = table_lines(rows, left={0})
    width = max(map(len, [heads, *top]))
    facts = [*top[1:], "=" * width] if top[1:] else []
    return [top[0], "=" * width, *facts, heads, "-" * width, *lines, "=" * width, *below]


def html_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> str:
    """A table in HTML with heads over its columns; the columns whose numbers are in `left` stand to the left."""
    styles = [_LEFT if place in left else _RIGHT for place in range(len(heads))]
    cells = [[html_cell("td", *cell) for cell in zip(row, styles, strict=True)] for row in rows]
    return html_of(caption, cells, [html_cell("th", *cell) for cell in zip(heads, styles, strict=True)])


def html_named_table(caption: str, heads: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML with heads over its columns, and the name of each row before it."""
    named = zip(names, rows, strict=True)
    cells = [[html_cell("th", name, _LEFT, scope="row"), *(html_cell("td", text, _RIGHT) for text in row)] for name, row in named]
    return html_of(caption, cells, [html_cell("th", text, _RIGHT) for text in ("", *heads)])


def html_of(caption: str, rows: HtmlRows, head: Iterable[str] = (), foot: HtmlRows | None = None) -> str:
    """A table in HTML of cells that `html_cell` has made."""
    heads = "".join(head)
    above = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    below = "" if foot is None else f"<tfoot>{_html_rows(foot)}</tfoot>"
    title = f'<caption style="text-align:left;font-weight:bold">{html.escape(caption)}</caption>'
    return f"<table>{title}{above}<tbody>{_html_rows(rows)}</tbody>{below}</table>"


def html_cell(tag: str, text: str, style: str, columns: int | None = None, *, scope: str = "col") -> str:
    """One cell, `columns` of them wide; a head, "th", says whether it is that of a column or of a row."""
    width = "" if columns is None else f'colspan="{columns}" '
    heads = f'scope="{scope}" ' if tag == "th" else ""
    return f'<{tag} {width}{heads}style="{style}">{html.escape(text)}</{tag}>'


def _html_rows(rows: HtmlRows) -> str:
    return "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
