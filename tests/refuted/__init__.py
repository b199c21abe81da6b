"""Claims that were refuted once: each as the test that refuted it."""
