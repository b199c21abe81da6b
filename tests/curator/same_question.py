"""Threads of a process that ask the same questions at the same moment: `python -m tests.curator.same_question LEDGER THREADS
QUESTIONS` says "ready", waits for a line, and prints what each of them heard.
"""

from __future__ import annotations

import json
import sys
import threading

import dpstats as dp

ROWS = {"x": [float(number) for number in range(100)], "g": ["a", "b"] * 50}


def main(ledger: str, threads: str, questions: str) -> None:
    survey = dp.protect(ROWS, unit="row", budget=dp.Budget(epsilon=100), ledger=ledger, name="survey", edition="1")
    heard: list[list[object]] = [[] for _ in range(int(questions))]
    start = threading.Barrier(int(threads) + 1)

    def ask() -> None:
        start.wait()
        for number in range(int(questions)):
            heard[number].append(survey.where(f"x > {number}").count("x", epsilon=1).value)

    crowd = [threading.Thread(target=ask) for _ in range(int(threads))]
    for each in crowd:
        each.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    start.wait()
    for each in crowd:
        each.join()
    sys.stdout.write(json.dumps(heard))


if __name__ == "__main__":
    main(*sys.argv[1:])
