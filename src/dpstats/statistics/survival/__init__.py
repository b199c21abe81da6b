"""Survival curves: how long until something happens, where not everybody was watched until it did."""
