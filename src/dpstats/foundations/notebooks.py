"""Tables as notebooks show them."""

from __future__ import annotations

import html
from collections.abc import Sequence


def html_of(caption: str, heads: Sequence[str], names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table with a caption, heads over its columns, and for each row its name and its texts."""
    head = "".join(f'<th style="text-align:right">{html.escape(each)}</th>' for each in ("", *heads))
    body = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th>'
        + "".join(f'<td style="text-align:right">{html.escape(each)}</td>' for each in texts)
        + "</tr>"
        for name, texts in zip(names, cells, strict=True)
    )
    title = f'<caption style="text-align:left;font-weight:bold">{html.escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
