"""The ledger: an append-only, hash-chained record of what was asked of which data set, what it cost, and what was answered."""
