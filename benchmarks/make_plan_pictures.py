"""Write docs/pictures/plan-*.svg: what a median's interval is at some epsilons, and what epsilon a wanted one takes.

    python benchmarks/make_plan_pictures.py [--pictures docs/pictures]

Everything is simulated by `dp.plan` from a fixed seed; no data is read, and the same code writes the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dpstats as dp
from dpstats.curator.planning.pictures import Height, plot_plans

SIZES = [100, 300, 1_000, 3_000, 10_000]
EPSILONS = (0.1, 0.5, 2)
WANTED = ("10%", "20%", "40%")


def main() -> None:
    """Write both pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, default=Path(__file__).parents[1] / "docs" / "pictures")
    parser.add_argument("--repeats", type=int, default=30)
    arguments = parser.parse_args()
    forward = {
        f"epsilon {epsilon:g}": dp.plan(
            "median", epsilon=epsilon, n=SIZES, shape="lognormal", repeats=arguments.repeats, rng=dp.testing.seeded(1)
        )
        for epsilon in EPSILONS
    }
    plot_plans(arguments.pictures / "plan-half-width.svg", forward, Height.HALF_WIDTH)
    backward = {
        f"half-width {wanted}": dp.plan(
            "count", half_width=wanted, n=SIZES, shape="lognormal", repeats=arguments.repeats, rng=dp.testing.seeded(1)
        )
        for wanted in WANTED
    }
    plot_plans(arguments.pictures / "plan-epsilon.svg", backward, Height.EPSILON)


if __name__ == "__main__":
    main()
