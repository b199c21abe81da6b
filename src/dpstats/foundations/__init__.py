"""The words everyone shares: costs, results, errors, randomness, rounding, summaries, the registry."""
