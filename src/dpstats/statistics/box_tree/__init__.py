"""A private tree of boxes: space halved where rows are many, with a noisy count in every last box."""
