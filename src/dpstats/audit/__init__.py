"""The auditor: checks what the library claims. The tests hold the exact laws and broken twins."""
