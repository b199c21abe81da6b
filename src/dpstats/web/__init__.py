"""The curator over HTTP: pages for people and JSON for programs, at the same addresses. See docs/service.md."""
