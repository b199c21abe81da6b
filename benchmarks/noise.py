"""Noise: microseconds per element and per call, beside OpenDP's if it is installed. Ratios count, seconds do not.

python benchmarks/noise.py [elements]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpstats.foundations.randomness import SystemSource
from dpstats.mechanisms import gaussian, laplace
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.gaussian import sample_discrete_gaussian

SCALES = (1, 100, 10**6)


def microseconds(call: Callable[[], object], repeats: int) -> float:
    """The best of three runs, per repeat."""
    call()
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, time.perf_counter() - start)
    return best / repeats * 1e6


def opendp_call(kind: str, scale: float, value: Any) -> Callable[[], object] | None:
    """The same noise from OpenDP; None where it is not installed."""
    try:
        import opendp.prelude as vetted
    except ImportError:
        return None
    vetted.enable_features("contrib")
    real = isinstance(value[0] if isinstance(value, list) else value, float)
    atom = vetted.atom_domain(T=float, nan=False) if real else vetted.atom_domain(T=int)
    domain = vetted.vector_domain(atom) if isinstance(value, list) else atom
    if isinstance(value, list):
        metric = vetted.l1_distance(T=float if real else int) if kind == "laplace" else vetted.l2_distance(T=float)
    else:
        metric = vetted.absolute_distance(T=float if real or kind == "gaussian" else int)
    make = vetted.m.make_laplace if kind == "laplace" else vetted.m.make_gaussian
    measurement = make(domain, metric, scale=float(scale))
    return lambda: measurement(value)


def line(name: str, ours: float, theirs: float | None) -> str:
    """One row of the table."""
    beside = "OpenDP not installed" if theirs is None else f"{theirs:10.2f}   {theirs / ours:8.1f} times faster"
    return f"{name:<44}{ours:10.3f}   {beside}"


def main(elements: int = 1_000_000) -> None:
    """Print the table."""
    rng = SystemSource()
    fewer = min(elements, 20_000)  # OpenDP is slow enough to be measured on fewer
    print(f"{'microseconds per element':<44}{'dpstats':>10}   {'OpenDP':>10}")
    for kind in ("laplace", "gaussian"):
        for scale in SCALES:
            if kind == "laplace":
                ours = microseconds(lambda s=scale: sample_discrete_laplace(Fraction(s), elements, rng), 1)  # type: ignore[misc]
            else:
                ours = microseconds(lambda s=scale: sample_discrete_gaussian(Fraction(s) ** 2, elements, rng), 1)  # type: ignore[misc]
            call = opendp_call(kind, scale, [0] * fewer)
            theirs = None if call is None else microseconds(call, 1) / fewer
            print(line(f"discrete {kind}, scale {scale}", ours / elements, theirs))
    whole, reals = [0] * fewer, [0.5] * fewer
    vectors: list[tuple[str, list[Any], Callable[[], object]]] = [
        ("whole call, laplace of whole numbers", whole, lambda: laplace(whole, l1_sensitivity=1, epsilon=1, integers=True)),
        ("whole call, laplace of floats", reals, lambda: laplace(reals, l1_sensitivity=1, epsilon=1)),
    ]
    for name, values, ours_call in vectors:
        call = opendp_call("laplace", 1.0, values)
        theirs = None if call is None else microseconds(call, 1) / fewer
        print(line(name, microseconds(ours_call, 1) / fewer, theirs))
    print(f"\n{'microseconds per call':<44}{'dpstats':>10}   {'OpenDP':>10}")
    calls: list[tuple[str, str, object, Callable[[], object]]] = [
        ("laplace of one whole number", "laplace", 5, lambda: laplace(5, l1_sensitivity=1, epsilon=1, integers=True)),
        ("laplace of one float", "laplace", 5.0, lambda: laplace(5.0, l1_sensitivity=1, epsilon=1)),
        ("gaussian of one float", "gaussian", 5.0, lambda: gaussian(5.0, l2_sensitivity=1, epsilon=1, delta=1e-6)),
    ]
    for name, kind, value, ours_call in calls:
        call = opendp_call(kind, 1.0, value)
        theirs = None if call is None else microseconds(call, 300)
        print(line(name, microseconds(ours_call, 300), theirs))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
