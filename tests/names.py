"""Names of parametrised tests that are the same in every process that collects them."""

from __future__ import annotations

import re


def shown(value: object) -> str:
    """The text of a value, without the address that some texts have in them."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
