"""The error to expect of a question, in words, from the stored plan tables: no data is read, and nothing is simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.foundations.errors import DpstatsError


def planned_error(desk: ServiceDesk, actor: str, document: Mapping[str, Any], groups: int | None) -> str | None:
    """How far off an answer may be, over all shapes; None where the tables do not have it, or groups are found privately."""
    if groups is None:
        return None
    rows = max(1, desk.policy.rows // groups)
    epsilon = document["epsilon"]
    try:
        curve = desk.curve({**document, "plan": {"n": rows, "epsilon": [epsilon]}}, actor)
    except DpstatsError:
        return None
    shares = [100 * width / line.whole for line in curve.lines for width in line.half_widths if width is not None and line.whole]
    if len(shares) < len(curve.lines):
        return None
    few = any(float(curve.epsilons[-1]) < line.floor for line in curve.lines)
    low, high = (f"{each:.2g}%" for each in (min(shares), max(shares)))
    within = f"within {low}" if low == high else f"within {low} to {high}"
    words = f"{within} {curve.scale}{' in each group' if groups > 1 else ''}"
    return f"{words}; often no reply with so few rows" if few else words
