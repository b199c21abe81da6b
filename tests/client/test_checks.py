"""Receipts and heads show what a service's ledger has lost, whoever keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import dpstats as dp
from dpstats.client import checks
from dpstats.client.checks import PublishedHead
from dpstats.client.curators import RemoteCurator
from dpstats.curator.ledger.signing import Signer
from tests.client.conftest import NAME
from tests.web.conftest import Service

Receipt = dict[str, Any]


@pytest.fixture(scope="module")
def receipts(service: Service, curator: RemoteCurator) -> list[Receipt]:
    """One from before the ledger had a key, and two from after."""
    people = curator[NAME]
    unsigned = dict(people.count(epsilon=1).receipt)
    service.office.ledger.make_key()
    return [unsigned, *(dict(people.count(epsilon=epsilon).receipt) for epsilon in (2, 3))]


def test_what_is_there_is_found(curator: RemoteCurator, receipts: list[Receipt]) -> None:
    check = curator.verify(NAME, receipts=receipts, key=receipts[1]["signed_by"])
    assert check
    assert check.complaints == ()
    assert (check.receipts, check.key) == (3, receipts[1]["signed_by"])
    assert str(check) == "the ledger of people, by 3 receipts: nothing is wrong"
    assert "signed, up to entry" in str(check.card())
    assert curator.verify(NAME, heads=check.heads)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda receipt: {**receipt, "hash": "0" * 64}, "its signature is wrong"),
        (lambda receipt: {**receipt, "sequence": receipt["sequence"] + 1}, "its signature is wrong"),
        (lambda receipt: _signed({**receipt, "hash": "0" * 64}, Signer.new()), "its key never signed this ledger"),
        (lambda receipt: {**receipt, "time": "2020"}, "not found: another entry is in its place"),
        (lambda receipt: {**receipt, "dataset": "survey"}, "it is about survey"),
    ],
)
def test_a_receipt_that_does_not_fit_is_told(
    curator: RemoteCurator, receipts: list[Receipt], change: Callable[[Receipt], Receipt], said: str
) -> None:
    check = curator.verify(NAME, receipts=[receipts[2], change(receipts[1])])
    assert not check
    [complaint] = check.complaints
    assert said in complaint
    assert said in str(check)


def test_a_ledger_that_lost_a_head_or_has_another_key_is_told(curator: RemoteCurator, receipts: list[Receipt]) -> None:
    found = curator.verify(NAME)
    lost = replace(found.heads[-1], hash="1" * 64)
    assert curator.verify(NAME, heads=[lost]).complaints == (f"the head of entry {lost.sequence} is no longer there",)
    [complaint] = curator.verify(NAME, key="ab" * 32).complaints
    assert "nothing is signed with the key" in complaint


def test_heads_that_somebody_else_signed_are_told(
    curator: RemoteCurator, receipts: list[Receipt], monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = PublishedHead(receipts[1]["sequence"], "2" * 64, "00", receipts[1]["signed_by"])
    monkeypatch.setattr(checks, "_published", lambda _: [forged])
    first, second = curator.verify(NAME, receipts=[receipts[1]]).complaints
    assert "somebody else has written it" in first
    assert "a signed head says otherwise" in second


def test_a_key_that_was_followed_by_another_signs_no_more(
    curator: RemoteCurator, receipts: list[Receipt], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, sequence = Signer.new(), Signer.new(), receipts[1]["sequence"]
    heads = [
        PublishedHead(number, "3" * 64, by.sign(number, "3" * 64, key.public), key.public)
        for number, by, key in [(1, old, old), (2, old, new), (3, new, new)]
    ]
    monkeypatch.setattr(checks, "_published", lambda _: heads)
    [complaint] = curator.verify(NAME, receipts=[_signed(receipts[1], old)]).complaints
    assert complaint.startswith(f"receipt of entry {sequence}: its key was followed by another before that entry")
    assert curator.verify(NAME, receipts=[receipts[0]], key=old.public).key == new.public


def test_heads_come_in_pages(curator: RemoteCurator, service: Service, receipts: list[Receipt]) -> None:
    from dpstats.web.views import receipts as pages

    everything = curator.verify(NAME).heads
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pages, "HEADS", 1)
        assert curator.verify(NAME).heads == everything


def test_what_is_no_receipt_is_refused(curator: RemoteCurator) -> None:
    with pytest.raises(dp.InvalidParameterError, match="no receipt of a ledger"):
        curator.verify(NAME, receipts=[None])


def _signed(receipt: Receipt, signer: Signer) -> Receipt:
    signature = signer.sign(receipt["sequence"], receipt["hash"])
    return {**receipt, "signed_by": signer.public, "signature": signature}
