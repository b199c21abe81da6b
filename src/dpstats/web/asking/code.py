"""Questions as code that somebody can copy: a call in Python, a command line, and the cells of a notebook."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from dpstats.curator.documents.document import PRICE_WORDS
from dpstats.foundations.registry import find_statistic, statistic_names

TABLE = "people"
"""What the data set is called in code."""
_WORDS = ("model", "levels", *PRICE_WORDS)
_FREE = "They were paid for already: asked again, they are free while the rows are the same."
_FORMAT = {"nbformat": 4, "nbformat_minor": 5}


def python_code(origin: str, dataset: str, documents: Sequence[Mapping[str, Any]]) -> str:
    """A program that asks the same questions."""
    return "\n".join([*_opening(origin, dataset), "", *_calls(documents)])


def python_call(document: Mapping[str, Any]) -> str:
    """A question as a call of a session's method."""
    said = [TABLE]
    derived = {each["name"]: each["expression"] for each in document.get("with_columns", ())}
    if derived:
        said.append(f"with_columns({_named(derived)})")
    said += [f"where({_value(each)})" for each in document.get("where", ())]
    if "select" in document:
        said.append(f"select({', '.join(map(_value, document['select']))})")
    if "group_by" in document:
        groups = document["group_by"]
        keys = "" if groups.get("keys") is None else f", keys={_value(groups['keys'])}"
        said.append(f"group_by({', '.join(map(_value, groups['columns']))}{keys})")
    words = {**document.get("parameters", {})}
    words |= {
        name: document[name]
        for name in ("model", "levels", "epsilon", "delta", "method", "interval", "rough")
        if name in document
    }
    said.append(f"{document['statistic']}({', '.join([*_columns(document), *([_named(words)] if words else [])])})")
    return ".".join(said)


def curl_command(origin: str, dataset: str, documents: Sequence[Mapping[str, Any]]) -> str:
    """A command line that asks the same questions."""
    body, path = ({"document": documents[0]}, "questions") if len(documents) == 1 else ({"documents": list(documents)}, "basket")
    sent = shlex.quote(json.dumps(body, ensure_ascii=False))
    address = shlex.quote(f"{origin}/d/{quote(dataset, safe='')}/{path}")
    return f'curl {address} \\\n  -H "Authorization: Bearer $DPSTATS_TOKEN" \\\n  --json {sent}'


def notebook(origin: str, dataset: str, questions: Sequence[tuple[int, str, Sequence[Mapping[str, Any]]]]) -> bytes:
    """A Jupyter notebook that asks the same questions: for each the number of its debit, its words and its documents."""
    cells = [
        _cell("markdown", "title", f"# Questions about {_plain_text(dataset)}\n\n{_FREE}"),
        _cell("code", "opening", "\n".join(_opening(origin, dataset))),
    ]
    for number, words, documents in questions:
        cells.append(_cell("markdown", f"words-{number}", f"**{number}** {_plain_text(words)}"))
        cells.append(_cell("code", f"question-{number}", "\n".join(_calls(documents, f"_{number}"))))
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({**_FORMAT, "metadata": about, "cells": cells}, indent=1, ensure_ascii=False).encode()


def _opening(origin: str, dataset: str) -> list[str]:
    connected = f"dp.connect({_value(origin)})  # the token is in DPSTATS_TOKEN"
    return ["import dpstats as dp", "", f"curator = {connected}", f"{TABLE} = curator[{_value(dataset)}]"]


def _calls(documents: Sequence[Mapping[str, Any]], suffix: str = "") -> list[str]:
    """Lines that ask one question, or several as one basket, and print the answers."""
    if len(documents) == 1:
        return [f"answer{suffix} = {python_call(documents[0])}", f"print(answer{suffix})"]
    put = [f"basket.add({_value(dict(each))})" for each in documents]
    return [f"basket = {TABLE}.basket()", *put, f"answers{suffix} = basket.ask()", f"print(*answers{suffix}, sep='\\n')"]


def _columns(document: Mapping[str, Any]) -> list[str]:
    if "formula" in document:
        return [_value(document["formula"])]
    if "outcome" in document:
        return [_value(document["features"]), _value(document["outcome"])]
    columns = document.get("columns", [])
    name = document["statistic"]
    if columns and name in statistic_names() and find_statistic(name).takes_only_columns:
        return [_value(columns)]
    return [_value(each) for each in columns]


def _named(words: Mapping[str, Any]) -> str:
    if all(name.isidentifier() for name in words):
        return ", ".join(f"{name}={_value(value)}" for name, value in words.items())
    return f"**{_value(dict(words))}"


def _value(value: Any) -> str:
    """A JSON value as Python writes it; amounts are texts, which are exact."""
    return repr(value)


def _cell(kind: str, name: str, text: str) -> dict[str, Any]:
    said: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}
    return said if kind == "markdown" else {**said, "execution_count": None, "outputs": []}


def _plain_text(words: str) -> str:
    """Words in which Markdown and HTML find no signs of their own."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#!|~&$" else letter for letter in words)
