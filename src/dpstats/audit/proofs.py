"""Proof pins: a hash of every function or constant that a proof speaks of, so that neither changes without the other.

A file `<stem>.proof.md` beside the code ends with the section "Functions this proof speaks of", one line for each:

    - dpstats.mechanisms.coins.settle sha256:0123456789abcdef

Run `python -m dpstats.audit.proofs` to check all pins. When a function has changed, read the proof again, mend it, and only
then renew its pins with `--renew PATH`. Comments, docstrings and layout do not count.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import io
import re
import sys
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from dpstats.foundations.text_tables import counted

PACKAGE = Path(__file__).resolve().parents[1]
HEADING = "## Functions this proof speaks of"

_PIN = re.compile(r"^- ([\w.]+) sha256:(\S+)$", re.MULTILINE)
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_STARTS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True)
class Pin:
    """One line of a proof: the name of a function, class or constant, and the hash of what was proved."""

    proof: Path
    name: str
    digest: str

    def mismatch(self) -> str | None:
        """What is wrong with the pin, or None."""
        try:
            found = pinned_digest(self.name)
        except (ImportError, AttributeError):
            return f"{self.proof.name}: {self.name} does not exist"
        return None if found == self.digest else f"{self.proof.name}: {self.name} has changed (now sha256:{found})"


def proof_files() -> list[Path]:
    """Every proof in the package."""
    return sorted(PACKAGE.rglob("*.proof.md"))


def pins(proof: Path) -> list[Pin]:
    """The pins at the end of one proof."""
    section = proof.read_text(encoding="utf-8").partition(HEADING)[2]
    return [Pin(proof, name, digest) for name, digest in _PIN.findall(section)]


def complaints() -> list[str]:
    """Everything that is wrong with the pins of the package."""
    found = []
    for proof in proof_files():
        pinned = pins(proof)
        if not pinned:
            found.append(f"{proof.name}: pins nothing")
        found += [problem for pin in pinned if (problem := pin.mismatch())]
    return found


def renew(proof: Path) -> None:
    """Write the present hashes into one proof."""
    text, heading, section = proof.read_text(encoding="utf-8").partition(HEADING)
    renewed = _PIN.sub(lambda match: f"- {match[1]} sha256:{pinned_digest(match[1])}", section)
    proof.write_text(text + heading + renewed, encoding="utf-8")


def pinned_digest(name: str) -> str:
    """The first 16 hexadecimal digits of the hash of what `name` stands for."""
    found = _resolve(name)
    try:
        return source_digest(inspect.getsource(found))
    except TypeError:  # a constant has no source of its own
        return _digest(repr(found))


def source_digest(source: str) -> str:
    """The hash of a source's tokens without comments, docstrings and layout; alike on every Python version."""
    return _digest("\n".join(_significant(textwrap.dedent(source))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _resolve(name: str) -> Any:
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            found = getattr(found, part)
        return found
    raise ImportError(f"no module of {name} can be imported")


def _significant(source: str) -> Iterator[str]:
    tokens = [token for token in _whole_strings(source) if token.type not in _LAYOUT]
    for index, token in enumerate(tokens):
        opens = index == 0 or tokens[index - 1].type in _STARTS
        closes = index + 1 == len(tokens) or tokens[index + 1].type == tokenize.NEWLINE
        if token.type == tokenize.STRING and opens and closes:
            continue  # a docstring, or a string that documents an attribute
        if token.type in _STARTS:
            yield {tokenize.NEWLINE: "<line>", tokenize.INDENT: "<in>", tokenize.DEDENT: "<out>"}[token.type]
        else:
            yield token.string


def _whole_strings(source: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens, with f-strings as one token each: Python 3.12 and later take them apart, 3.11 does not."""
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]  # of the lines
    depth, start = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind in ("FSTRING_START", "TSTRING_START"):
            start = start if depth else token.start
            depth += 1
        elif kind in ("FSTRING_END", "TSTRING_END"):
            depth -= 1
            if not depth:
                text = source[starts[start[0] - 1] + start[1] : starts[token.end[0] - 1] + token.end[1]]
                yield tokenize.TokenInfo(tokenize.STRING, text, start, token.end, token.line)
        elif not depth:
            yield token


def main(arguments: Sequence[str] | None = None) -> int:
    """Check all pins, or renew those of one proof; the number of complaints decides the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dpstats.audit.proofs", description="Check the pins of all proofs.")
    parser.add_argument("--renew", type=Path, metavar="PATH", help="write the present hashes into this proof, read again first")
    given = parser.parse_args(arguments)
    if given.renew is not None:
        renew(given.renew)
    found = complaints()
    pinned = sum(len(pins(proof)) for proof in proof_files())
    numbers = counted(len(proof_files()), "proof"), counted(pinned, "pin"), counted(len(found), "complaint")
    sys.stdout.write("\n".join([*found, ", ".join(numbers)]) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
