"""Tables of codes: how columns become finitely many codes, and what counting rows by codes costs."""
