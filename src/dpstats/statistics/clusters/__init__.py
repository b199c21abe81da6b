"""Clusters without bounds: private seeds, private steps, and what is released of them."""
