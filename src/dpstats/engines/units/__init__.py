"""Units: a bounded number of rows of each, chosen by a keyed hash of the rows themselves."""
