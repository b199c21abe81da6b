"""The stubs that type checkers and editors read, written from the registry: `make stubs`, or `python -m tests.stubs`."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import dpstats
from dpstats import selecting
from dpstats.foundations import accepted
from dpstats.foundations.accepted import ColumnNames, Columns, Rows, literal_of
from dpstats.foundations.arguments import column_words
from dpstats.foundations.calls import MORE, OF_TABLES, Caller, Word, common_words, documentation, signature
from dpstats.foundations.registry import AUTO, REQUIRED, Reads, Statistic, ValueBy, find_statistic, statistic_names
from tests.statistics_index import index_text

SOURCE = Path(__file__).parents[1] / "src" / "dpstats"
INDEX = SOURCE / "statistics" / "index.py"
ALIASES = {
    name: frozenset(get_args(alias))
    for name, alias in vars(accepted).items()
    if isinstance(alias, UnionType) or get_origin(alias) is Union
}
HEADER = '''# Written by `make stubs` from the registry: do not edit.
"""{summary}"""

'''
RELEASED, GROUPED = "Release", "GroupedRelease"


def types_of(statistic: Statistic, caller: Caller, more: Sequence[Word] = ()) -> dict[str, Any]:
    """The type of what each parameter takes, by name."""
    types = {word.name: word.takes for word in (*more, *common_words(caller))}
    types["method"] = literal_of((AUTO, *statistic.methods))
    for each in statistic.parameters:
        by_name = caller is Caller.METHOD and each.takes_by_name is not None
        types[each.name] = each.takes_by_name if by_name else each.takes
    several = Columns if caller is Caller.FUNCTION else ColumnNames
    single = Rows if caller is Caller.FUNCTION else str
    for word, reads in zip(column_words(statistic, caller.value), statistic.reads, strict=True):
        takes_several = reads in (Reads.FEATURES, Reads.COLUMNS)
        types[word] = several if takes_several else single | None if statistic.only_counts else single
    if statistic.takes_tables:
        types |= {word.name: word.takes for word in OF_TABLES} if caller is Caller.FUNCTION else {"columns": ColumnNames | None}
        types["table"] = Any
    if statistic.only_counts and caller is Caller.FUNCTION:
        types[Caller.FUNCTION.value] = single
    return {**types, MORE: several}


class Stub:
    """The text of a stub, and what it must import."""

    def __init__(self, summary: str) -> None:
        self.summary = summary
        self.imports: set[tuple[str, str]] = {("dpstats.foundations.results", "NoReply")}
        self.body: list[str] = []

    def __str__(self) -> str:
        text = {module: ", ".join(sorted(name for home, name in self.imports if home == module)) for module, _ in self.imports}
        lines = [f"from {module} import {names}" for module, names in sorted(text.items())]
        own = [line for line in lines if line.startswith("from dpstats")]
        others = [line for line in lines if line not in own]
        return "\n".join([HEADER.format(summary=self.summary), *others, "", *own, "", *self.body, ""])

    def type_text(self, annotation: Any) -> str:
        """A type as it is written, with the names of `accepted` for the unions that have one there."""
        if annotation in (None, NoneType):
            return "None"
        if annotation is Ellipsis:
            return "..."
        if annotation is Any or get_origin(annotation) is Literal:
            self.imports.add(("typing", "Any" if annotation is Any else "Literal"))
            return "Any" if annotation is Any else f"Literal[{', '.join(map(repr, get_args(annotation)))}]"
        if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
            return " | ".join(self._members(get_args(annotation)))
        if get_origin(annotation) is not None:
            return f"{self.type_text(get_origin(annotation))}[{', '.join(map(self.type_text, get_args(annotation)))}]"
        if annotation.__module__ != "builtins":
            self.imports.add((annotation.__module__, annotation.__name__))
        return str(annotation.__name__)

    def _members(self, given: Sequence[Any]) -> Iterator[str]:
        left = list(given)
        for name, members in sorted(ALIASES.items(), key=lambda each: -len(each[1])):
            if members <= set(left):
                left = [each for each in left if each not in members]
                self.imports.add((accepted.__name__, name))
                yield name
        yield from map(self.type_text, left)

    def add(self, statistic: Statistic, caller: Caller, result: str, more: Sequence[Word] = ()) -> None:
        """A statistic as a function or a method; overloaded where the type of its value goes by a parameter."""
        self.imports.add((f"dpstats.foundations.{'results' if result == RELEASED else 'grouped'}", result))
        value = statistic.value
        cases = value.cases if isinstance(value, ValueBy) else ((None, value),)
        for place, (taken, released) in enumerate(cases):
            types = types_of(statistic, caller, more)
            by_name = ""
            if isinstance(value, ValueBy):
                self.imports.add(("typing", "overload"))
                types[value.parameter] = taken
                by_name = value.parameter if 0 < place < len(cases) - 1 else ""
            parameters = list(signature(statistic, caller, more).parameters.values())
            lines = [
                *(["@overload"] if isinstance(value, ValueBy) else []),
                f"def {statistic.name}(",
                *(["    self,"] if caller is Caller.METHOD else []),
                *(f"    {line}," for line in self._parameters(parameters, types, by_name)),
                f") -> {result}[{self.type_text(released)}] | NoReply:",
                textwrap.indent(f'"""{documentation(statistic, caller, more)}\n"""', "    "),
            ]
            self.body.append(textwrap.indent("\n".join(lines), "    " if caller is Caller.METHOD else "") + "\n")

    def _parameters(self, parameters: Sequence[inspect.Parameter], types: dict[str, Any], by_name: str) -> Iterator[str]:
        """Each parameter as it is written; from the one of the name `by_name` on they go by name and it has no default."""
        starred = False
        for each in parameters:
            if not starred and (each.kind is each.KEYWORD_ONLY or each.name == by_name):
                yield "*"
                starred = True
            starred = starred or each.kind is each.VAR_POSITIONAL
            star = "*" if each.kind is each.VAR_POSITIONAL else ""
            default = "" if each.default is REQUIRED or each.name == by_name else f" = {_default_text(each.default)}"
            yield f"{star}{each.name}: {self.type_text(types[each.name])}{default}"


def _default_text(default: Any) -> str:
    return repr(default) if default is None or isinstance(default, (bool, int, float, str, tuple)) else "..."


def functions() -> Stub:
    """The functions of `dpstats` that the registry makes."""
    stub = Stub("The statistics as functions of data.")
    names = [name for name in statistic_names() if getattr(dpstats, name).__module__ == "dpstats"]
    stub.body += [f"__all__ = {names!r}", ""]
    for name in names:
        if name == selecting.SELECT_MODEL.name:
            stub.add(selecting.WITH_OWN_MODELS, Caller.FUNCTION, RELEASED, selecting.LIMITS)
        else:
            stub.add(find_statistic(name), Caller.FUNCTION, RELEASED)
    return stub


def methods() -> Stub:
    """The methods of sessions and of groups."""
    stub = Stub("The statistics as methods of sessions and of groups.")
    for name, result in (("SessionMethods", RELEASED), ("GroupMethods", GROUPED)):
        where = "" if result == RELEASED else ", in every group of its rows"
        stub.body += [f"class {name}:", f'    """The statistics on columns of a protected table{where}."""', ""]
        for each in statistic_names():
            stub.add(find_statistic(each), Caller.METHOD, result)
    return stub


def stubs() -> dict[Path, str]:
    """The stubs as they should be, by their files."""
    made = {SOURCE / "functions.pyi": functions(), SOURCE / "curator" / "statistic_methods.pyi": methods()}
    return {path: formatted(str(stub), path) for path, stub in made.items()}


def formatted(text: str, path: Path) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(path), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Write the stubs, and the index of statistics that they are made from."""
    INDEX.write_text(formatted(index_text(), INDEX), encoding="utf-8")
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
