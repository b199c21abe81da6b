"""The statistics as methods: `Asker` makes them from the registry, and the stub beside this file has their types."""

from __future__ import annotations


class SessionMethods:
    """The statistics on columns of a protected table."""


class GroupMethods:
    """The statistics on columns of a protected table, in every group of its rows."""
