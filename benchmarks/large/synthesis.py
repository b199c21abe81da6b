def measure_large(rows): pass
