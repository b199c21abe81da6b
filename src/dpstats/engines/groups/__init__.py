"""One question in every group of rows, in few passes."""
