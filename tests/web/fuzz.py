"""Generated calls: `python -m tests.web.fuzz CALLS` sends that many to a service, and prints what came back.

They are made from the service's own OpenAPI document by schemathesis, half as it allows and half otherwise, and are sent by
somebody of all roles, who owns the demo's table, so that every handler is reached. Whatever is sent, no reply may be a 5xx. In
places of addresses stand names of things that there are, in half of the calls: a data set with an answer, which was proposed and
published.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from schemathesis import GenerationMode

from dpstats.curator.ledger.entries import ANSWER
from dpstats.web.people.people import read_scope
from dpstats.web.people.roles import Role
from tests.web.conftest import Service, served

OWNER = "olga"
QUESTION = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.1"}


def client_of_all_roles(service: Service) -> httpx.Client:
    """A client of the demo's owner, who may pass everywhere, and ask about her own table."""
    service.office.people.change(OWNER, roles=list(Role))
    service.office.catalog.grant("survey", analyst=OWNER, actor=OWNER, why="generated calls")
    token = service.office.people.new_token(OWNER, "generated calls", read_scope({"actions": ["read", "ask", "own"]}))
    return httpx.Client(base_url=service.origin, headers={"authorization": f"Bearer {token}"}, timeout=60, trust_env=False)


def things_there_are(service: Service, client: httpx.Client) -> dict[str, Any]:
    """Names that addresses have: of an answer, a letter about it, and its publication."""
    sequence = client.post("/d/survey/questions", json={"document": QUESTION}).json()["sequence"]
    proposal = {"sequence": sequence, "title": "Incomes", "words": "please"}
    letter = client.post("/d/survey/proposals", json=proposal).json()["letter"]
    answer = next(each for each in service.office.ledger.reader("survey").entries() if each.kind == ANSWER)
    number = service.office.catalog.publish("survey", answer=answer.sequence, title="Incomes", actor=OWNER)
    return {"name": "survey", "sequence": sequence, "number": number, "letter": letter, "person": "ana", "token": "none"}


def send_generated(service: Service, calls: int) -> tuple[Counter[int], list[str]]:
    """The statuses of at least so many calls, and the first few of those that broke something.

    Some operations have few different calls, or none that their schema forbids: what they leave over goes to the others, which
    are sent in rounds, each generated from another seed.
    """
    statuses: Counter[int] = Counter()
    broken: list[str] = []
    with client_of_all_roles(service) as client:
        known = things_there_are(service, client)
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        ways = [
            (each.ok(), mode)
            for each in schema.get_all_operations()
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        ]
        for seed in itertools.count():
            left = calls - statuses.total()
            if left <= 0 or not ways:
                return statuses, broken
            share = -(-left // len(ways))
            ways = [way for way in ways if _send(client, *way, share, seed, known, statuses, broken) >= share]
    raise AssertionError


def _send(
    client: httpx.Client,
    operation: Any,
    mode: GenerationMode,
    calls: int,
    seed: int,
    known: Mapping[str, Any],
    statuses: Counter[int],
    broken: list[str],
) -> int:
    """Send some calls of one operation; how many could be generated."""
    sent = 0

    @seeded(seed)
    @settings(
        max_examples=calls,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def call(case: Any) -> None:
        nonlocal sent
        sent += 1
        if sent % 2:
            case.path_parameters = {name: known.get(name, value) for name, value in (case.path_parameters or {}).items()}
        words = case.as_transport_kwargs(base_url=str(client.base_url))
        headers = {str(name): str(value) for name, value in (words.get("headers") or {}).items()}
        headers.pop("Authorization", None)
        try:
            reply = client.request(
                words["method"],
                words["url"],
                params=words.get("params"),
                headers={name: value for name, value in headers.items() if value.isascii() and value.isprintable()},
                **({"json": words["json"]} if words.get("json") is not None else {"content": words.get("data") or b""}),
            )
        except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError, ValueError):
            return  # no client can send it
        statuses[reply.status_code] += 1
        if reply.status_code >= 500 and len(broken) < 20:
            broken.append(f"{reply.status_code} {case.as_curl_command()}")

    try:
        call()
    except Exception as error:  # a strategy that has no examples: nothing can be wrong with such a call
        if "Unsatisfiable" not in type(error).__name__:
            raise
    return sent


def main(calls: int) -> int:
    """Send, and print."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as service:
        statuses, broken = send_generated(service, calls)
    sys.stdout.write(f"{sum(statuses.values()):,} calls: {dict(sorted(statuses.items()))}\n")
    sys.stdout.write("".join(f"{each}\n" for each in broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
