"""Classifiers without bounds: private codes of all columns, and what is learnt from them."""
