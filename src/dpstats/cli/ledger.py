"""`dpstats ledger`: verifies a ledger, shows what it says, copies it, brings it back, and has it signed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dpstats.cli import exits
from dpstats.cli.ledger_statements import show
from dpstats.curator.ledger.backup import back_up, restore, shown_address
from dpstats.curator.ledger.chain_files import SUFFIX, ChainFile
from dpstats.curator.ledger.ledger import Ledger, open_ledger
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import Signatures
from dpstats.curator.ledger.verification import Verification
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.text_tables import counted

UNSOUND = 1

_DESCRIPTION = f"""\
A ledger keeps every question that was put to a protected table, what it cost, and what was answered. Each entry is chained to
the one before it by a hash. Reading a ledger changes nothing in it, and needs neither the data nor the writer's machine.

  dpstats ledger verify survey.ledger
  dpstats ledger verify survey.ledger --head 5a49dcfc1ee8... --key 3f1c... --receipt receipt.json
  dpstats ledger verify chain.jsonl
  dpstats ledger show survey.ledger --dataset survey
  dpstats ledger show postgresql://user@host/database --json
  dpstats ledger backup survey.ledger copies/survey-2026-11-16.ledger
  dpstats ledger restore copies/survey-2026-11-16.ledger survey.ledger
  dpstats ledger key survey.ledger
  dpstats ledger key survey.ledger --rotate

verify checks every hash, the chain, every running total, the budgets, the archived answers and the signatures, and that the
ledger has all that its witness (survey.ledger.witness) has seen. Whoever keeps the ledger can cut off its end and change the
witness, too: remember the head that is printed, or keep receipts of answers, and give them the next time. A file whose name ends
with .jsonl has the entries of a ledger as a service hands them to auditors; it is verified in the same way.

Exit codes of verify:
  {exits.ANSWERED}  the ledger is sound
  {UNSOUND}  it is not, or it is empty; every complaint is printed with the number of its entry
  {exits.BAD_INPUT}  it cannot be read; one sentence says why
"""
_READING = ("verify", "show", "backup")
_LEDGER = "a file such as survey.ledger, or a postgresql:// URL"


def describe() -> str:
    """The text above the arguments in the help."""
    return _DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats ledger`."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    verify = actions.add_parser("verify", help="check a ledger from its first entry to its last", allow_abbrev=False)
    showing = actions.add_parser("show", help="print terms, budgets, questions and costs", allow_abbrev=False)
    backup = actions.add_parser("backup", help="copy a ledger, also while it is in use", allow_abbrev=False)
    back = actions.add_parser("restore", help="bring back what a backup has and a ledger has lost", allow_abbrev=False)
    key = actions.add_parser("key", help="make a key that signs the ledger from now on, or a new one", allow_abbrev=False)
    back.add_argument("file", metavar="FILE", help="the backup")
    for each in (verify, showing, backup, back, key):
        each.add_argument("ledger", metavar="LEDGER", help=_LEDGER)
    backup.add_argument("file", metavar="FILE", help="a new file, or the URL of an empty place in Postgres")
    for each in (verify, showing, backup, back, key):
        each.add_argument("--witness", metavar="FILE", help="the ledger's witness, where it is not beside it")
    verify.add_argument("--head", metavar="HASH", help="a head that was printed before; it must still be in the ledger")
    verify.add_argument("--key", metavar="HEX", help="the public key that must have signed the ledger")
    verify.add_argument("--receipt", metavar="FILE", nargs="+", help="receipts of answers, as JSON: are they in the ledger?")
    showing.add_argument("--json", action="store_true", help="print one JSON object, with the archived answers")
    showing.add_argument("--dataset", metavar="NAME", help="only this data set")
    back.add_argument(
        "--forfeit",
        action="store_true",
        help="restore a backup that lacks entries which the witness has seen, and give up what was left of every budget",
    )
    back.add_argument("--why", metavar="TEXT", help="why, for the ledger to keep")
    key.add_argument("--key-file", metavar="FILE", help="where to keep the key of a ledger in Postgres")
    key.add_argument("--rotate", action="store_true", help="let the key be followed by a new one, which the old one signs")


def run(arguments: argparse.Namespace) -> int:
    """Do what the action says."""
    if arguments.action in _READING and arguments.witness and not Path(arguments.witness).exists():
        raise InvalidParameterError(f"there is no witness {arguments.witness}: a ledger cannot be compared with it.")
    if arguments.action == "backup":
        found = back_up(arguments.ledger, arguments.file, witness=arguments.witness)
        return _done(f"{shown_address(arguments.file)} is a copy of {shown_address(arguments.ledger)}", found)
    if arguments.action == "restore":
        if bool(arguments.why) != arguments.forfeit:
            raise InvalidParameterError("--forfeit and --why go together: say why what was left is given up.")
        found = restore(arguments.file, arguments.ledger, witness=arguments.witness, forfeit=arguments.why)
        return _done(f"{shown_address(arguments.ledger)} has all that {shown_address(arguments.file)} has", found)
    if arguments.action == "key":
        return _rotate_key(arguments) if arguments.rotate else _make_key(arguments)
    if arguments.action == "verify" and arguments.ledger.endswith(SUFFIX):
        if arguments.witness:
            raise InvalidParameterError("a file of entries has no witness: leave --witness out.")
        return _verify(ChainFile(Path(arguments.ledger)), arguments)
    with open_ledger(arguments.ledger, read_only=True, witness=arguments.witness) as ledger:
        return _verify(ledger, arguments) if arguments.action == "verify" else show(ledger, arguments)


def _verify(ledger: Ledger | ChainFile, arguments: argparse.Namespace) -> int:
    head, key = (given.strip().lower() if given else None for given in (arguments.head, arguments.key))
    found = ledger.verify(head, key)
    for complaint in found.complaints:
        print(complaint)
    is_checked = found.signatures.checked or not (key or found.signatures.key)
    print(f"{ledger.address}: {counted(found.entries, 'entry', 'entries')}, {_verdict(found, is_checked)}")
    print(f"head {found.head or 'none'}")
    if found.withheld:
        print(f"{counted(found.withheld, 'answer')} withheld: only their places in the chain were checked")
    if found.signatures.signed or not is_checked:
        print(_signed(found.signatures))
    receipts = [_receipt_line(ledger, Path(file), found.signatures) for file in arguments.receipt or ()]
    for _, line in receipts:
        print(line)
    return exits.ANSWERED if found.sound and is_checked and all(fine for fine, _ in receipts) else UNSOUND


def _verdict(found: Verification, is_checked: bool) -> str:
    if found.complaints:
        return f"NOT SOUND, {counted(len(found.complaints), 'complaint')}"
    if not found.entries:
        return "NOT SOUND, empty: nothing was ever written"
    return "sound" if is_checked else "sound but for its signatures"


def _signed(signatures: Signatures) -> str:
    if not signatures.checked:
        return "signatures NOT CHECKED: pip install 'dpstats[signing]'"
    earlier = (f"\nbefore entry {number:,} with the key {key}" for key, number in signatures.followed.items())
    return f"signed up to entry {signatures.signed:,} with the key {signatures.key}{''.join(earlier)}"


def _receipt_line(ledger: Ledger | ChainFile, file: Path, signatures: Signatures) -> tuple[bool, str]:
    """Whether the ledger has what a receipt says, and a line about it."""
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InvalidParameterError(f"{file} cannot be read as JSON.") from None
    receipt = KeptReceipt.from_dict(plain)
    complaint = receipt.complaint(ledger.entry(receipt.sequence), signatures)
    if complaint:
        unsigned = "" if receipt.signature else "; the receipt is not signed, so it shows that to nobody but who kept it"
        return False, f"{file}: {complaint}{unsigned}"
    how = "" if not receipt.signature else ", signature right" if signatures.checked else ", signature NOT CHECKED"
    return True, f"{file}: found, entry {receipt.sequence:,} of {receipt.dataset}{how}"


def _make_key(arguments: argparse.Namespace) -> int:
    with open_ledger(arguments.ledger, witness=arguments.witness, key=arguments.key_file) as ledger:
        public, path = ledger.make_key()
    print(f"public key {public}")
    print(f"The private key is in {path}. Keep a copy of it in a safe place; whoever has it can sign in your name.")
    print("Publish the public key: whoever gives it to `dpstats ledger verify --key` knows that the ledger is yours.")
    return exits.ANSWERED


def _rotate_key(arguments: argparse.Namespace) -> int:
    with open_ledger(arguments.ledger, witness=arguments.witness, key=arguments.key_file) as ledger:
        old = ledger.public_key
        public, path = ledger.rotate_key()
    print(f"public key {public}")
    print(f"It follows {old}, which has signed it. {path} has the new private key, and the old one is gone.")
    print("Publish the new public key, and make a backup: one from before cannot be signed with the new key.")
    return exits.ANSWERED


def _done(what: str, found: Verification) -> int:
    print(f"{what}: {counted(found.entries, 'entry', 'entries')}, sound")
    print(f"head {found.head}")
    return exits.ANSWERED
