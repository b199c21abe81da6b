"""The universal quantile: an exponential mechanism over all decimal numbers, with no bounds, no delta and no refusal."""
