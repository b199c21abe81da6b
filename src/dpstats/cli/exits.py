"""The exit codes, which scripts rely on."""

from __future__ import annotations

ANSWERED = 0
UNEXPECTED = 1
BAD_INPUT = 2
NO_REPLY = 3
INTERRUPTED = 130
BROKEN_PIPE = 141

MEANINGS = {
    ANSWERED: "every question was answered",
    UNEXPECTED: "something unexpected went wrong; its text is withheld, because it could quote data",
    BAD_INPUT: "the input is at fault; one sentence says how",
    NO_REPLY: "at least one question got no reply",
}
