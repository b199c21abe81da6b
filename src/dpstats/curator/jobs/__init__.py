"""Jobs: paid questions are worked on in processes of their own, within limits, and their replies leave at public times."""
