"""The auditor: tries to refute every claim that the library makes."""
