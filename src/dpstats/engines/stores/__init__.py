"""Where tables live: each store runs a job over its rows, in batches, where they are."""
