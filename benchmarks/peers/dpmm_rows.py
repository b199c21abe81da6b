"""Synthetic rows by dpmm, in an environment of its own: `benchmarks/synthetic.py --peers` runs this file with its interpreter.

    python dpmm_rows.py CODES.csv ROWS.csv '{"method": "mst", "epsilon": 1, "delta": 1e-6, "iterations": 500}'

Reads a table of codes, writes as many synthetic rows, and prints the seconds of a processor that this took. dpmm is given for
nothing how many codes each column has, and how many rows there are.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time

import numpy as np
import pandas as pd


def main() -> None:
    """Fit and draw."""
    from dpmm.models.aim import AIMGM
    from dpmm.models.mst import MSTGM

    source, target, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    codes = pd.read_csv(source)
    words = {
        "epsilon": given["epsilon"],
        "delta": given["delta"],
        "domain": {name: int(codes[name].max()) + 1 for name in codes},
        "random_state": np.random.RandomState(given.get("seed", 0)),
        "n_iters": given["iterations"],
        "n_jobs": 1,
    }
    if given["method"] == "aim":
        words |= {"max_model_size": given["megabytes"], "rounds": given["rounds"]}
    began = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        model = {"aim": AIMGM, "mst": MSTGM}[given["method"]](**words)
        model.fit(codes)
        rows = model.generate(len(codes))
    seconds = time.process_time() - began
    rows[list(codes.columns)].astype(int).to_csv(target, index=False)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
