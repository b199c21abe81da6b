"""What can be asked: importing this package puts every statistic in it on the registry's list.

A module here registers its statistics as it is imported, which happens when one of them is first looked for. A new statistic is
one new module; `make stubs` writes the index.
"""

from __future__ import annotations

from dpstats.foundations.registry import announce
from dpstats.statistics.index import HOMES

announce(HOMES)
