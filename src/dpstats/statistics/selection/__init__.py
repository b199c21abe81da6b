"""Choices: which features, model or option the rows speak for, released only where blocks of rows agree."""
