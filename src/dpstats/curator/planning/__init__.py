"""Predict before spending: plans, and the simulated tables that they are made on."""
