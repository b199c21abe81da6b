"""Principal components without bounds: a frame of the columns, one noisy matrix of moments, and what follows from it."""
