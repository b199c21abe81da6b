"""The catalog: which tables there are, who may ask what of them, and the desks at which analysts ask."""
