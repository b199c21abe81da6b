"""Publishing: a list of questions about one table, paid for at once, as a folder that can be checked without the data."""
