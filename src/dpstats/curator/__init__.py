"""The one door to data, and what stands before it: `plan` says what to expect of a question before anything is spent."""
