"""Proofs and code stay together: every mechanism has a proof, and every pin matches the source that was proved."""

from __future__ import annotations

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
    assert "1 proofs, 2 pins, 0 complaints" in capsys.readouterr().out


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
