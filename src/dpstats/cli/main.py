"""The entry point of the command line: one table of commands, one place where errors become exit codes."""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn

from dpstats import __version__
from dpstats.cli import exits
from dpstats.foundations.addresses import without_passwords
from dpstats.foundations.errors import DpstatsError, InvalidParameterError

COMMANDS = {
    "demo": "ask a bundled, synthetic table some private questions",
    "plan": "what to expect of questions, before anything is spent",
    "ask": "private answers about a CSV or Parquet file",
    "synthesize": "write synthetic rows like those of a CSV or Parquet file",
    "publish": "answer a whole plan for one debit, in a folder to verify",
    "serve": "the curator over HTTP: pages for people, JSON for programs",
    "people": "who may sign in to the service of a catalog",
    "ledger": "check, show, copy or sign what was asked, and what it cost",
    "schema": "print what a question may hold as a document, as JSON Schema",
}
"""Every command, with a summary. The module of that name in this package has `describe`, `add_arguments` and `run`; it is loaded
when the command is used."""

_EMPTY = re.compile(r"\s*|--[\w-]+=\s*")
"""Arguments that no command takes, and that would leave an option as if it had not been given."""
_YOUNG = 100_000
"""Objects to make before a look for garbage, of which imports leave none; Python looks after 700."""
_DESCRIPTION = """\
Private statistics that need no bounds: ask, and get an answer with its cost, or an honest "no reply".

Start here:
  dpstats demo                                              questions about a bundled table, and what they cost
  dpstats plan "median(income)" --epsilon 1 --n 10000    what to expect of a question; reads nothing, spends nothing
  dpstats ask people.csv "median(income)" --epsilon 1       your own table: CSV or Parquet
  dpstats ask --help                                        all the questions there are
  dpstats synthesize people.parquet --epsilon 1 --delta 1e-6 --out rows.csv    rows like those of a table, and none of them
  dpstats publish plan.toml --out report                    questions, tables and synthetic rows in one report, paid at once
  dpstats serve --demo                                      the curator as a web page, with an invented table
  dpstats people catalog.toml --add olga --role owner        who may sign in to such a page
  dpstats ledger verify survey.ledger                       what a session spent, checked from the first entry to the last
  dpstats schema                                            questions as JSON documents: what they may hold
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one sentence; that of a command is filled when it is used."""

    command: str | None = None
    _module: Any = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse after the command's own arguments have been added."""
        if self.command and self._module is None:
            self._module = import_module(f"dpstats.cli.{self.command}")
            self._module.add_arguments(self)
            self.set_defaults(run=self._module.run)
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        """The help, with the command's description, which may list the statistics."""
        if self._module is not None:
            self.description = self._module.describe()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        _complain(f"{message}; see {self.prog} --help")
        raise SystemExit(exits.BAD_INPUT)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="dpstats", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"dpstats {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, summary in COMMANDS.items():
        formatter = argparse.RawDescriptionHelpFormatter
        commands.add_parser(name, help=summary, formatter_class=formatter, allow_abbrev=False).command = name
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to fail
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
        return code
    except SystemExit as leaving:  # argparse leaves this way after --help, --version and its own complaints
        return leaving.code if isinstance(leaving.code, int) else exits.ANSWERED
    except DpstatsError as error:
        _complain(str(error))
        return exits.BAD_INPUT
    except BrokenPipeError:  # the reader has seen enough, as in `dpstats demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.BROKEN_PIPE
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except Exception:
        _complain("something unexpected went wrong; its text is withheld, because it could quote data. Nothing was released.")
        return exits.UNEXPECTED


def run() -> NoReturn:
    """Run the command line as a program, which ends once it is done: to free all memory first takes as long as a question."""
    gc.set_threshold(_YOUNG)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a question multiplies no large matrices, and idle threads are not free
    code = main()
    atexit._run_exitfuncs()
    with suppress(OSError):  # of a reader who has seen enough
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    os._exit(code)


def _dispatch(argv: Sequence[str] | None) -> int:
    given = sys.argv[1:] if argv is None else argv
    for before, each in pairwise(["dpstats", *given]):
        if _EMPTY.fullmatch(each):
            name = each.strip().rstrip("=") or f"the argument after {before}"
            raise InvalidParameterError(f"{name} is empty: is a variable of the shell not set?")
    parser = build_parser()
    arguments, surplus = parser.parse_known_args(argv)
    if surplus:  # argparse would point to the help of the whole, not of the command
        place = f"dpstats {arguments.command}" if arguments.command else "dpstats"
        raise InvalidParameterError(f"unrecognized arguments: {' '.join(surplus)}; see {place} --help")
    if arguments.command is None:
        parser.print_help()
        return exits.ANSWERED
    return int(arguments.run(arguments))


def _complain(sentence: str) -> None:
    print(f"dpstats: {without_passwords(sentence)}", file=sys.stderr)


if __name__ == "__main__":
    run()
