"""What can be asked: importing this package registers every statistic in it.

A module here registers its statistics as it is imported, so a new statistic is one new module and no list to extend.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
