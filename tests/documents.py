"""The examples in our documents, run: what a document prints is what the code prints.

A ```python block runs; a ```text block right after it is its output. In a ```console block each line `$ dpstats ...` runs, and
what follows it is its output. All blocks of a document share their names and a directory with the bundled table in it as
people.csv. A fence that also says `not-run` is left alone. Noise comes from a fixed stream while a document runs, so that its
numbers can be compared; they are one honest draw.

    python -m tests.documents README.md docs/*.md            writes the outputs again
    python -m tests.documents --compare README.md docs/*.md  prints the lines that would change, and writes nothing
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from unittest.mock import patch

from dpstats.cli.main import main
from dpstats.foundations.randomness import SeededSource, SystemSource

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCED = re.compile(r"^```(?P<kind>[a-z]+)[^\S\n]*(?P<mark>[^\n]*)\n(?P<body>.*?)^```$(?P<gap>\n*)", re.MULTILINE | re.DOTALL)
PROMPT = "$ "


def run_document(text: str) -> str:
    """`text` with every output as it comes out today."""
    names: dict[str, object] = {"__name__": "__main__"}
    pieces: list[str] = []
    position, pending = 0, None
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory), fixed_noise():
        table = resources.files("dpstats.data").joinpath("survey.csv")
        with resources.as_file(table) as path:
            shutil.copy(path, "people.csv")
        for block in FENCED.finditer(text):
            body = block["body"]
            if "not-run" in block["mark"]:
                pending = None
            elif block["kind"] == "python":
                pending = _output_of_python(body, names)
            elif block["kind"] == "console":
                body, pending = _run_console(body), None
            elif block["kind"] == "text" and pending is not None and not text[position : block.start()].strip():
                body, pending = pending, None
            else:
                pending = None
            pieces += [text[position : block.start("body")], body]
            position = block.end("body")
            tail = text[position : block.end()]
            pieces.append(tail)
            position = block.end()
    return "".join([*pieces, text[position:]])


@contextlib.contextmanager
def fixed_noise() -> Iterator[None]:
    """Releases draw from one fixed stream, and do not know it."""
    stream = SeededSource(1)
    with patch.object(SystemSource, "octets", lambda _, count: stream.octets(count)):
        yield


def _output_of_python(code: str, names: dict[str, object]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "<example>", "exec"), names)
    return _tidy(output.getvalue())


def _run_console(body: str) -> str:
    lines: list[str] = []
    skipping = False
    for line in body.splitlines():
        if line.startswith(PROMPT):
            lines.append(line)
            words = shlex.split(line.removeprefix(PROMPT))
            skipping = words[0] == "dpstats"
            if skipping:
                lines += _output_of_command(words[1:]).splitlines()
        elif not skipping:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _output_of_command(arguments: list[str]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        main(arguments)
    return _tidy(output.getvalue())


def _tidy(output: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


def changed_lines(document: Path) -> list[str]:
    """The lines of a document that come out otherwise today, each with the document's name before it."""
    text = document.read_text(encoding="utf-8")
    changes = difflib.unified_diff(text.splitlines(), run_document(text).splitlines(), n=0, lineterm="")
    return [f"{document.name}: {line}" for line in list(changes)[2:] if not line.startswith("@@")]


if __name__ == "__main__":
    compares = sys.argv[1:2] == ["--compare"]
    for document in [Path(name).resolve() for name in sys.argv[1 + compares :]]:
        if compares:
            sys.stdout.write("".join(f"{line}\n" for line in changed_lines(document)))
        else:
            document.write_text(run_document(document.read_text(encoding="utf-8")), encoding="utf-8")
