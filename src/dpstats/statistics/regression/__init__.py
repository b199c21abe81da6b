"""Regression without bounds: private standardisation, noisy steps on bounded scores, and the regressions of Dwork & Lei 2009."""
