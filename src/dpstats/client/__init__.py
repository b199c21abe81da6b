"""The service as an analyst's program sees it: the same sessions, whose questions are answered elsewhere."""
