"""Which modules register which statistic: importing all of them in a process of its own tells, as `make stubs` needs it.

python -m tests.statistics_index    the index as JSON: statistic -> its modules and its methods, in order
"""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from typing import Any

ROOM = "dpstats.statistics"
SUMMARY = '''# Written by `make stubs` from the modules beside it: do not edit.
"""Where each statistic is registered, and its methods in order."""

from __future__ import annotations

from dpstats.foundations.registry import Home

'''


def index_text() -> str:
    """The module `statistics/index.py`, not yet formatted."""
    command = [sys.executable, "-m", "tests.statistics_index"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    homes = {name: f"Home({tuple(modules)}, {tuple(methods)})" for name, (modules, methods) in sorted(found.items())}
    return SUMMARY + "HOMES = {" + "".join(f"{name!r}: {home}," for name, home in homes.items()) + "}\n"


def homes() -> dict[str, tuple[list[str], list[str]]]:
    """Import every module and note where statistics and methods are registered."""
    from dpstats.foundations import registry

    modules: dict[str, list[str]] = {}
    real_register, real_method = registry.register, registry.method

    def note(name: str) -> None:
        module = _module_being_imported()
        if module not in modules.setdefault(name, []):
            modules[name].append(module)

    def register(statistic: registry.Statistic) -> registry.Statistic:
        note(statistic.name)
        return real_register(statistic)

    def method(statistic: registry.Statistic, *others: Any, **named: Any) -> Any:
        note(statistic.name)
        return real_method(statistic, *others, **named)

    registry.register, registry.method = register, method
    for module in pkgutil.iter_modules(import_module(ROOM).__path__):
        import_module(f"{ROOM}.{module.name}")
    return {name: (found, list(registry._STATISTICS[name].methods)) for name, found in modules.items()}


def _module_being_imported() -> str:
    """The innermost module whose body is running."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


if __name__ == "__main__":
    print(json.dumps(homes()))  # noqa: T201
