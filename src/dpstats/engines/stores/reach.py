"""Whether a table can be reached: what is asked of a store before a question is paid for.

What is looked at is public and the same whatever the rows are: that a file is there, unchanged and may be opened, that a server
answers, that a table is in its catalog with the columns that it had. So the error that follows may say so, and costs nothing.
"""

from __future__ import annotations

from dpstats.engines.stores.store import Store
from dpstats.foundations.errors import DpstatsError


def check_reachable(store: Store) -> None:
    """Raise where the rows of a store cannot be read now; no row is looked at."""
    check = getattr(store, "check_reachable", None)
    if check is None:
        return
    try:
        check()
    except DpstatsError as error:
        raise type(error)(f"{error} Nothing was spent.") from None
