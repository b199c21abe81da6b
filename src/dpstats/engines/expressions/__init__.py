"""The language of `where` and of derived columns: small, per row, and total."""

from dpstats.engines.expressions.expression import Expression, condition, parse_expression

__all__ = ["Expression", "condition", "parse_expression"]
