"""Accounting: what releases cost together, in exact arithmetic and from parameters alone."""
