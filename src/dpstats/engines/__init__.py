"""Where the data lives: each engine answers the protocol of `foundations.summaries` for one kind of store."""
