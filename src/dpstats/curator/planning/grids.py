"""A table of short texts, for terminals and for notebooks."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence


def text_lines(head: Sequence[str], cells: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    """The table as lines; columns stand to the right, those whose numbers are in `left` to the left."""
    lines = [list(head), *map(list, cells)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(head))]

    def aligned(index: int, text: str) -> str:
        return text.ljust(widths[index]) if index in left else text.rjust(widths[index])

    return ["  ".join(aligned(index, text) for index, text in enumerate(line)).rstrip() for line in lines]


def html_table(title: str, head: Sequence[str], cells: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """The table in HTML, under a title."""

    def row(tag: str, line: Sequence[str]) -> str:
        marked = (
            f'<{tag} style="text-align:{"left" if index in left else "right"}">{html.escape(text)}</{tag}>'
            for index, text in enumerate(line)
        )
        return f"<tr>{''.join(marked)}</tr>"

    caption = f'<caption style="text-align:left;font-weight:bold">{html.escape(title)}</caption>'
    body = "".join(row("td", line) for line in cells)
    return f"<table>{caption}<thead>{row('th', head)}</thead><tbody>{body}</tbody></table>"
