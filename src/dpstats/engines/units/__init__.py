"""Units: at most so many rows of each, chosen by a keyed hash of the rows themselves."""
