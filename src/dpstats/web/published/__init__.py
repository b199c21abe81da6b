"""What was published, as plain values for pages, files and programs."""
