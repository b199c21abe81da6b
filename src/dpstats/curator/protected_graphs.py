"""A graph behind a ledger, or on its own: checks and prices a question, debits it, and only then reads an edge.

The way of a question is that of the desk (desk.py): recall, or debit and compute; what goes wrong after the debit because of the
graph is one charged `NoReply`. The account is opened for one relation, edges or nodes, and for one unit: a ledger refuses to add
costs of another, and a graph whose edges were protected is no account of its nodes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from pathlib import PurePath
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.archive import Result, result_of
from dpstats.curator.desk import archive_form, settled
from dpstats.curator.ledger.ledger import Account, Ledger, Terms, open_ledger
from dpstats.curator.ledger.reservations import Goods
from dpstats.curator.memory_ledgers import MEMORY
from dpstats.curator.question_forms import archive_key
from dpstats.engines.graphs.given import GivenGraph
from dpstats.engines.graphs.reading import graph_content, read_graph
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import GraphNeighbors
from dpstats.foundations.randomness import RandomSource, SystemSource
from dpstats.foundations.registry import COULD_NOT, outcome_of, reply_to
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.graphs.questions import GraphQuestion, GraphStatistic, ask_graph

UNNAMED = "graph"
MOST_NODES = 2**31 - 1


@dataclass(frozen=True, eq=False)
class GraphDesk:
    """Where questions about one graph are answered; it is read once, for the first question that was paid for."""

    given: GivenGraph
    nodes: Any = None
    relation: GraphNeighbors | None = None
    """Whom it protects; None where every question says it."""
    unit: str | None = None
    account: Account | None = None
    """What questions are charged to; None for a graph whose holder keeps count by himself."""
    edition: str = ""
    """Names the state of the graph; a question about another edition is another question."""
    source: str = ""
    """A keyed fingerprint of the graph, which tells its state by itself; empty where no ledger outlives this process."""

    @cached_property
    def raw_graph(self) -> SimpleGraph:
        """The graph, read."""
        return read_graph(self.given, self.nodes)

    def asked(self, statistic: GraphStatistic, words: Mapping[str, Any], arguments: Mapping[str, Any]) -> GraphQuestion:
        """A checked and priced question."""
        question = ask_graph(statistic, arguments=arguments, **words)
        if question.method.needs_nodes and self.nodes is None and self.given.nodes is None:
            raise MissingParameterError(
                f"{statistic.name} counts nodes without edges too, which edges do not name: give nodes, their labels or "
                "a number n for the nodes 0 ... n - 1. For a graph of networkx whose nodes were there before its edges write "
                "nodes=list(graph)."
            )
        return question

    def answer(self, question: GraphQuestion, source: RandomSource) -> Release | NoReply:
        """The reply to a priced question."""

        def compute() -> Release | NoReply:
            outcome = outcome_of(lambda: question.method.run(self.raw_graph, question, source), source)
            return reply_to(
                str(question),
                outcome,
                cost=question.cost,
                method=question.method.name,
                claim=question.method.claim,
                private=source.private,
            )

        if self.account is None:
            return compute()
        details = self._details(question)
        order = self.account.order(archive_key(details), str(question), question.cost, details, question.method.loss)
        refused = reply_to(
            str(question), COULD_NOT, cost=question.cost, method=question.method.name, claim="", private=source.private
        )
        goods = Goods[Result](
            check=lambda: None,
            compute=compute,
            revive=lambda document: result_of(document, question.statistic),
            refuse=lambda: refused,
            document=archive_form,
        )
        result = settled(self.account, order, goods)
        assert isinstance(result, (Release, NoReply))
        return result

    def _details(self, question: GraphQuestion) -> dict[str, object]:
        """Everything that tells one question from another."""
        method = question.method
        is_public = self.relation is GraphNeighbors.EDGE and isinstance(self.nodes, int)  # else even their number is private
        return {
            **({"nodes": self.nodes} if is_public else {}),
            "edition": self.edition,
            **({"source": self.source} if self.source else {}),
            "method": f"graphs.{question.statistic.name}_{method.name}/{method.version}",
            "arguments": json.loads(json.dumps(dict(question.arguments))),
            "epsilon": str(question.epsilon),
            "delta": "0",
            "interval": str(question.interval),
        }


class ProtectedGraphBase:
    """What a protected graph tells of itself."""

    def __init__(self, desk: GraphDesk) -> None:
        self._desk = desk

    @property
    def remaining(self) -> str:
        """What is left of the budget, in words."""
        assert self._desk.account is not None
        return self._desk.account.standing.remaining

    def __repr__(self) -> str:
        assert self._desk.account is not None
        assert self._desk.relation is not None
        return f"ProtectedGraph({self._desk.account.dataset}: protects each {self._desk.relation.value}, left {self.remaining})"

    def _ask(self, statistic: GraphStatistic, epsilon: object, interval: object, **arguments: object) -> Release | NoReply:
        desk = self._desk
        words = {"protect": desk.relation, "epsilon": epsilon, "interval": interval, "unit": desk.unit}
        return desk.answer(desk.asked(statistic, words, arguments), SystemSource())


def protected_desk(desk: GraphDesk, ledger: str | PurePath | Ledger, name: str | None, budget: Budget, edition: str) -> GraphDesk:
    """The desk of a graph with its account in a ledger, which knows the graph by its content."""
    if not isinstance(budget, Budget):
        raise InvalidParameterError(f"budget must be a dp.Budget, such as dp.Budget(epsilon=3), got {type(budget).__name__}.")
    assert desk.relation is not None
    assert desk.unit is not None
    book = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
    book.check()
    called, prints = UNNAMED if name is None else name, None
    if str(ledger) != MEMORY:
        prints = book.prints_of(called, Whereabouts(content=lambda: graph_content(desk.given, desk.nodes)), edition)
    account = book.account(called, Terms(budget, desk.unit, desk.relation, 1, {"data": "graph"}), prints=prints)
    source = "" if prints is None else prints.state
    own = "" if name is not None or source else secrets.token_hex(8)  # never taken for a graph of an earlier session
    return replace(desk, account=account, edition=f"{edition}{own}", source=source)


def checked_nodes(nodes: Any) -> Any:
    """The nodes as a caller gives them: a number, or labels in an order; None where they are left out. Reads no label."""
    if nodes is None:
        return None
    if isinstance(nodes, Integral) and not isinstance(nodes, bool):
        number = int(nodes)
        if 0 <= number <= MOST_NODES:
            return number
    elif isinstance(nodes, (set, frozenset)):
        raise InvalidParameterError("nodes must be in an order, which a set has not: for example nodes=sorted(...).")
    elif _is_one_column(nodes):
        return nodes
    raise InvalidParameterError("nodes must be a number n, for the nodes 0 ... n - 1, or a list or a column of labels.")


def _is_one_column(nodes: Any) -> bool:
    """Whether something is a column of labels, by its type and shape."""
    if isinstance(nodes, (str, bytes, bytearray)) or hasattr(nodes, "columns"):
        return False
    return isinstance(nodes, Iterable) and getattr(nodes, "ndim", 1) == 1
