"""Statistics of order and scale by propose-test-release: distances from order statistics, and what is tested with them."""
