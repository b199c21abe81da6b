"""Asking over HTTP: a sentence becomes a document, an answer becomes plain values, and what is left is said in words."""
