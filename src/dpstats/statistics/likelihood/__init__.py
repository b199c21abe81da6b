"""Maximum likelihood: families of laws, their estimates in blocks of rows, and private ways to one estimate."""
