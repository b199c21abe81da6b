"""A page of HTML that needs nothing from elsewhere: its looks, by day, by night and on paper, and the parts it is made of."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1a1a1a; --quiet: #555; --line: #d4d4d4; --link: #0b57a4;
  --notice: #eef5fb; --missing: #fff6e5; --loud: #c00000; }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --ink: #e8e8e8; --quiet: #b4b4b4; --line: #44474d;
  --link: #8ec5ff; --notice: #1b2a38; --missing: #38301b; --loud: #ff8080; } }
@media print { :root { color-scheme: light; --page: #fff; --ink: #000; --quiet: #444; --line: #bbb; --link: #000;
  --notice: #fff; --missing: #fff; --loud: #c00000; }
  figure, tr, li { break-inside: avoid; } h2, summary, caption, figcaption { break-after: avoid; }
  .wide { overflow: visible; } pre { white-space: pre-wrap; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 56rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
a { color: var(--link); } h1, h2 { line-height: 1.25; }
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; font-size: 1.35rem; }
table { border-collapse: collapse; margin: .75rem 0; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
caption { text-align: left; font-weight: 600; padding: .2rem 0; } td.n, th.n { text-align: right; }
td.n { white-space: nowrap; } th.n { min-width: 3.5rem; } .wide { overflow-x: auto; }
.wide th[scope=row]:first-child { position: sticky; left: 0; background: var(--page); }
.guarantee, .none { border-left: 4px solid #0072B2; background: var(--notice); padding: .1rem 1rem; }
.none { border-color: #E69F00; background: var(--missing); padding: .75rem 1rem; }
.loud { color: var(--loud); font-weight: 700; } .value { font-size: 1.35rem; line-height: 1.35; margin-bottom: .25rem; }
.quiet { color: var(--quiet); font-size: .9rem; overflow-wrap: anywhere; margin: .25rem 0 .75rem; }
summary { cursor: pointer; font-weight: 600; } details { margin: .5rem 0; } pre { overflow-x: auto; font-size: .85rem; }
figure { margin: .75rem 0; }
figure svg { background: #fff; color: #1a1a1a; display: block; max-width: 100%; height: auto; }
figcaption { color: var(--quiet); font-size: .9rem; padding-bottom: .25rem; }
.card th { width: 14rem; } .card .quiet { margin: 0; }
@media (max-width: 40rem) { .card th, .card td { display: block; width: auto; border: 0; padding: 0; }
  .card td { border-bottom: 1px solid var(--line); padding-bottom: .4rem; margin-bottom: .4rem; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser may do with the page: show it. Nothing is loaded, run or sent."""


def page(title: str, parts: Iterable[str]) -> bytes:
    """The page of these parts, of which empty ones are left out."""
    head = "".join(
        (
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escaped(_POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(title)}</title><style>{_STYLE}</style>",
        )
    )
    body = "\n".join(part for part in parts if part)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'.encode()


def escaped(text: str) -> str:
    """A text that is shown as it is."""
    return html.escape(text)


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """A table of cells that are HTML already; the last `numbers` columns stand to the right."""
    styles = ["n" if place >= len(heads) - numbers else "" for place in range(len(heads))]
    top = "".join(head(text, "col", style) for text, style in zip(heads, styles, strict=True))
    lines = ("".join(f"<td{_class(style)}>{cell}</td>" for cell, style in zip(row, styles, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    above = f"<caption>{escaped(caption)}</caption><thead><tr>{top}</tr></thead>"
    return wide(caption, f"<table>{above}<tbody>{body}</tbody></table>")


def named_lines(lines: Iterable[tuple[str, str]]) -> str:
    """A table of texts, each with a name before it, or above it where the page is narrow; names and cells as they are."""
    rows = "".join(f"<tr>{head(name, 'row')}{cell}</tr>" for name, cell in lines)
    return f'<table class="card">{rows}</table>'


def wide(name: str, table_html: str) -> str:
    """A table that is scrolled by itself, by keys as well, where it is wider than the page."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escaped(name)}">{table_html}</div>'


def head(text: str, scope: str, style: str = "") -> str:
    """The head of a column or of a row."""
    return f'<th scope="{scope}"{_class(style)}>{escaped(text)}</th>'


def links(files: Sequence[str], most: int) -> str:
    """Links to files; more than `most` of them are folded away."""
    every = [f'<a href="{escaped(name)}">{escaped(name)}</a>' for name in files]
    if len(every) <= most:
        return f'<p class="quiet">{", ".join(every)}</p>' if every else ""
    return f"<details><summary>{len(every):,} files</summary><ul>{''.join(f'<li>{each}</li>' for each in every)}</ul></details>"


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""
