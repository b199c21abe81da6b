"""What owners see of their data sets, as plain values."""
