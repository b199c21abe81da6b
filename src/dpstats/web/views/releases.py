"""Releases: the page of each, its files, how to cite it, and how to check that the ledger has it."""

from __future__ import annotations

from dpstats.curator.catalog.registrations import Registration
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.publishing.cards import guarantee
from dpstats.curator.publishing.contents import json_bytes
from dpstats.web.complaints import NOT_THERE
from dpstats.web.figures.answers import figure_of
from dpstats.web.figures.svg import as_file
from dpstats.web.people.roles import Who
from dpstats.web.published.answers import published_files, published_values
from dpstats.web.published.documents import cards, citation, registry_entry
from dpstats.web.published.reading import PublishedAnswer, find_published
from dpstats.web.routes import FileReply, Plain, RouteTable, Visit
from dpstats.web.views.public import check_public

ROUTES = RouteTable()
_TEXT, _JSON = "text/plain; charset=utf-8", "application/json"


@ROUTES.page("/r/{number:int}", Who.PUBLIC, "release.html")
def release(visit: Visit) -> Plain:
    """A release: the number with its interval, a figure, its card, and where it is in the ledger."""
    published, registration = _found(visit)
    ledger, number, cost = visit.office.ledger, published.number, published.cost
    answers, every = published_values(published), cards(ledger, registration, published)
    return {
        "number": number,
        "title": published.title,
        "words": published.words,
        "dataset": registration.name,
        "owner": registration.owner,
        "time": published.entry.time,
        "cost": cost.to_dict(),
        "cost_words": str(cost),
        "unit": cost.unit,
        "guarantee": guarantee(cost),
        "answers": [
            {**each, "card": card, "svg": f"/r/{number}/{place}.svg" if each["figure"] else None}
            for place, (each, card) in enumerate(zip(answers, every, strict=True), 1)
        ],
        "files": [f"/r/{number}/files/{name}" for name in published_files(published)],
        "ledger": {
            "debit": _entry_values(published.debit),
            "answer": _entry_values(published.answer),
            "publication": {**_entry_values(published.entry), "by": published.entry.actor},
            "head": _signed_after(ledger, published.entry),
        },
        "receipt": ledger.receipt(published.entry).to_dict(),
        "citation": citation(published, registration, _address(visit, number)),
    }


@ROUTES.file("/r/{number:int}.csv", Who.PUBLIC)
def release_csv(visit: Visit) -> FileReply:
    """A release as CSV: its table, if it is one, else a line for each answer."""
    published, _ = _found(visit)
    summary, *tables = published_files(published).values()
    content = tables[0] if len(tables) == len(published.results) == 1 else summary
    return FileReply(content, "text/csv; charset=utf-8", f"release-{published.number}.csv")


@ROUTES.file("/r/{number:int}/files/{file}", Who.PUBLIC)
def release_file(visit: Visit) -> FileReply:
    """One of the CSV files of a release."""
    published, _ = _found(visit)
    files, name = published_files(published), visit.path["file"]
    if name not in files:
        raise NOT_THERE
    return FileReply(files[name], "text/csv; charset=utf-8", f"release-{published.number}-{name}")


@ROUTES.file("/r/{number:int}/{place:int}.svg", Who.PUBLIC)
def release_svg(visit: Visit) -> FileReply:
    """The figure of one answer of a release."""
    published, _ = _found(visit)
    place = int(visit.path["place"])
    figure = figure_of(published.results[place - 1]) if 1 <= place <= len(published.results) else None
    if figure is None:
        raise NOT_THERE
    return FileReply(as_file(figure.svg), "image/svg+xml", f"release-{published.number}-{place}.svg")


@ROUTES.file("/r/{number:int}.bib", Who.PUBLIC)
def release_citation(visit: Visit) -> FileReply:
    """How to cite a release, in BibTeX."""
    published, registration = _found(visit)
    return FileReply(citation(published, registration, _address(visit, published.number)).encode(), _TEXT)


@ROUTES.file("/r/{number:int}/registry.json", Who.PUBLIC)
def release_registry(visit: Visit) -> FileReply:
    """A release in the fields of the registry of deployments of differential privacy."""
    published, registration = _found(visit)
    entry = registry_entry(visit.office.ledger, registration, published, _address(visit, published.number))
    return FileReply(json_bytes(entry), _JSON)


@ROUTES.file("/r/{number:int}/receipt.json", Who.PUBLIC)
def release_receipt(visit: Visit) -> FileReply:
    """What a reader may keep of a release, to show later that the ledger had it."""
    published, _ = _found(visit)
    receipt = visit.office.ledger.receipt(published.entry).to_dict()
    return FileReply(json_bytes(receipt), _JSON, f"release-{published.number}.receipt.json")


def _found(visit: Visit) -> tuple[PublishedAnswer, Registration]:
    """The release that an address names, with its data set."""
    check_public(visit)
    published = find_published(visit.office.ledger, int(visit.path["number"]))
    registration = None if published is None else visit.office.catalog.open_dataset(published.dataset)
    if published is None or registration is None:
        raise NOT_THERE
    return published, registration


def _address(visit: Visit, number: int) -> str:
    return f"{visit.office.settings.origin}/r/{number}"


def _entry_values(entry: Entry) -> Plain:
    return {"sequence": entry.sequence, "time": entry.time, "hash": entry.hash}


def _signed_after(ledger: Ledger, entry: Entry) -> Plain | None:
    """The first head that signs an entry, along with all before it; None where nothing has yet."""
    head = next(iter(ledger.signed_heads(after=entry.sequence, limit=1)), None)
    return None if head is None else head.read(lambda content: {**content, "time": head.time}, "is no signature")
