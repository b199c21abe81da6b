"""Figures of pages: SVG by our own hand, one module for each figure."""
