"""Deprecated: the former name of two modules of `dpstats.statistics.propose_test_release` that the documents showed."""

from __future__ import annotations

import sys

from dpstats.statistics.propose_test_release import distances, ranks

sys.modules[f"{__name__}.distances"], sys.modules[f"{__name__}.ranks"] = distances, ranks
