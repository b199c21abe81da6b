"""Proofs and code stay together: every mechanism has a proof, and every pin matches the source that was proved."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

from dpstats.audit import proofs

ONE = '''
def answer(x: int) -> str:
    """Say it."""
    # a comment
    return f"{x:>{4}} and {'more'}"
'''
SAME = '''
def answer(
    x: int) -> str:
    """Say it in other words."""

    return f"{x:>{4}} and {'more'}"  # why
'''


def mechanism_modules() -> list[Path]:
    return [path for path in (proofs.PACKAGE / "mechanisms").glob("*.py") if path.stem != "__init__"]


def test_every_mechanism_module_has_its_proof() -> None:
    lacking = [path.stem for path in mechanism_modules() if not path.with_name(f"{path.stem}.proof.md").exists()]
    assert not lacking


def test_every_pin_matches_the_source_that_was_proved() -> None:
    assert proofs.complaints() == []


def test_every_proof_beside_a_mechanism_pins_something_in_it() -> None:
    for proof in (proofs.PACKAGE / "mechanisms").glob("*.proof.md"):
        module = proof.name.removesuffix(".proof.md")
        assert any(f"mechanisms.{module}." in pin.name for pin in proofs.pins(proof))


def defined_in(module: str) -> set[str]:
    """The full names of the functions and classes that a module defines."""
    found = vars(importlib.import_module(module)).items()
    return {f"{module}.{name}" for name, each in found if getattr(each, "__module__", None) == module and not is_plain(each)}


def is_plain(each: object) -> bool:
    return not (inspect.isfunction(each) or inspect.isclass(each))


def modules_of_summaries() -> list[str]:
    packages = [importlib.import_module(f"dpstats.engines.{name}") for name in ("exact", "passes", "groups", "tables")]
    found = [f"{package.__name__}.{each.name}" for package in packages for each in pkgutil.iter_modules(package.__path__)]
    return ["dpstats.engines.arrays", "dpstats.engines.cells", *found]


UNPROVED = {
    "dpstats.engines.passes.columns._not_opened_for_numbers": "an error about the public way a column was opened",
    "dpstats.engines.passes.lockstep._Failure": "an error in the place of an answer",
    "dpstats.engines.passes.lockstep._Post": "what a thread tells another",
    "dpstats.engines.passes.lockstep._start": "starts a thread",
    **dict.fromkeys(defined_in("dpstats.engines.tables.given"), "errors about declared types; the rows are read by reading.py"),
    **dict.fromkeys(defined_in("dpstats.engines.tables.features"), "takes containers apart into columns, which reading.py reads"),
}


def test_everything_that_makes_summaries_is_pinned_by_a_proof() -> None:
    pinned = {pin.name for proof in proofs.proof_files() for pin in proofs.pins(proof)}
    defined = {name for module in modules_of_summaries() for name in defined_in(module)}
    assert defined - pinned - set(UNPROVED) == set()
    assert set(UNPROVED) <= defined


def test_a_function_that_no_proof_pins_is_found() -> None:
    assert "dpstats.engines.exact.sums._sum_by_exponent" in defined_in("dpstats.engines.exact.sums")
    assert "dpstats.engines.exact.sums.edge_at" not in defined_in("dpstats.engines.exact.sums")


def test_comments_docstrings_and_layout_do_not_change_a_hash() -> None:
    assert proofs.source_digest(ONE) == proofs.source_digest(SAME)


def test_code_does_change_a_hash() -> None:
    for changed in (ONE.replace("4", "5"), ONE.replace("more", "less"), ONE.replace("return", "yield")):
        assert proofs.source_digest(ONE) != proofs.source_digest(changed)


def test_a_hash_is_alike_on_every_python_version() -> None:
    assert proofs.source_digest(ONE) == "9a9a650d1ca90eba"


def test_a_pin_that_does_not_match_is_reported_until_it_is_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    proof = tmp_path / "thing.proof.md"
    lines = ["- dpstats.audit.proofs.pins sha256:old", "- dpstats.audit.proofs.HEADING sha256:old", ""]
    proof.write_text("\n".join(["# Thing", "text", "", proofs.HEADING, "", *lines]), encoding="utf-8")
    monkeypatch.setattr(proofs, "PACKAGE", tmp_path)
    assert proofs.main([]) == 1
    assert "dpstats.audit.proofs.pins has changed" in capsys.readouterr().out
    assert proofs.main(["--renew", str(proof)]) == 0
    assert proof.read_text(encoding="utf-8").startswith("# Thing\ntext\n")
    assert "1 proof, 2 pins, 0 complaints" in capsys.readouterr().out


def test_a_pin_on_nothing_and_a_proof_without_pins_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.proof.md").write_text(
        f"{proofs.HEADING}\n\n- dpstats.mechanisms.coins.gone sha256:0\n- nowhere.at.all sha256:0\n"
    )
    (tmp_path / "b.proof.md").write_text("# Nothing pinned\n")
    monkeypatch.setattr(proofs, "PACKAGE", tmp_path)
    assert proofs.complaints() == [
        "a.proof.md: dpstats.mechanisms.coins.gone does not exist",
        "a.proof.md: nowhere.at.all does not exist",
        "b.proof.md: pins nothing",
    ]
