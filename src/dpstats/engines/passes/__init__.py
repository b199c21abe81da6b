"""Columns by passes over rows that lie elsewhere: what a pass gathers, and what is made of it."""
