"""The tests; a package by name, because others install theirs under the same."""
