"""Tables over a universe of listed rows: the small database mechanism, and multiplicative weights."""
