"""Arguments that several commands take."""

from __future__ import annotations

import argparse

from dpstats.foundations.privacy import Neighbors


def add_questions_and_epsilon(parser: argparse.ArgumentParser) -> None:
    """The arguments for questions and for what they may spend together."""
    parser.add_argument("questions", metavar="QUESTION", nargs="+", help="such as 'median(income)'; quote it for the shell")
    parser.add_argument("--epsilon", metavar="E", help="the privacy that all questions may spend together, such as 1")


def add_delta_and_neighbors(parser: argparse.ArgumentParser) -> None:
    """The arguments for the rest of the privacy that questions are asked under."""
    parser.add_argument("--delta", metavar="D", help="only for methods that need it; the total, such as 1e-6")
    parser.add_argument(
        "--neighbors",
        metavar="RELATION",
        default=Neighbors.ADD_REMOVE.value,
        help="add_remove (the default: the number of rows is private) or change_one (it is public)",
    )
