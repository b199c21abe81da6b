"""Addresses of databases as they may be shown: without passwords, also where somebody has written one in a wrong place.

A URL is shown only as far as it can mean nothing else: its host, database and table. Of one that may be read in two ways (an @, a
slash or a # in the password) nothing is shown, because any part of it may be a part of the password.
"""

from __future__ import annotations

import re

HIDDEN = "postgresql://..."
HOW_TO_WRITE = "postgresql://user@host/database, with %40 for an @ in the password, %2F for a /, %3A for a :, %23 for a #"
_PLAIN = re.compile(
    r"postgres(?:ql)?://(?:[^\s@/?#]*@)?(?P<host>(?:[\w.~%-]+|\[[\da-f:]+\]|,|:\d{1,5})*)(?:/(?P<database>[\w.~%-]*))?"
    r'(?:\?[^\s@#]*)?(?:#(?P<table>[\w.%"]*))?',
    re.IGNORECASE,
)
_LIKE_POSTGRES = re.compile(r"(?i)postgres[\w+]*\s*(?::|//).*@\S*|postgres[\w+]*:?//?\S*")
_OTHER_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*:/{1,3}).*@")
_QUERY = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://[^\s?]*\?)\S+")
_SCHEME = re.compile(r"(?i)\s*[a-z][a-z0-9+.-]+:/")
_PASSWORD = r"password|passwd|pwd"
_KEYWORD = re.compile(rf"(?i)(?:^|\s)(?:host|hostaddr|port|dbname|user|service|sslmode|{_PASSWORD})\s*=")
_PASSWORD_FIRST = re.compile(rf"(?i)\s*(?:{_PASSWORD})\s*=")
_WORD = re.compile(rf"(?i)((?:{_PASSWORD})\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^\s&#]*)")


def is_plain_url(url: str) -> bool:
    """Whether the URL of a Postgres database can be read in one way only."""
    return _PLAIN.fullmatch(url) is not None


def looks_like_postgres(text: str) -> bool:
    """Whether a text was meant as the address of a Postgres database: a URL, or keywords such as host=... password=..."""
    is_url = re.match(r"(?i)\s*postgres[\w+]*\s*(?::|//)", text) is not None
    return is_url or _PASSWORD_FIRST.match(text) is not None or len(_KEYWORD.findall(text)) > 1


def is_no_path(text: str) -> bool:
    """Whether a text was meant as the address of a server, also where a slash is missing; a drive (C:/) is none."""
    return "://" in text or _SCHEME.match(text) is not None or looks_like_postgres(text)


def shown_url(url: str) -> str:
    """The URL of a Postgres database as it may be shown: host, database and table."""
    found = _PLAIN.fullmatch(url.strip())
    if found is None:
        return HIDDEN
    database = f"/{found['database']}" if found["database"] else ""
    table = f"#{found['table']}" if found["table"] else ""
    return f"postgresql://{found['host']}{database}{table}"


def without_passwords(text: str) -> str:
    """The text without the passwords of the connection strings in it."""
    if "=" not in text and "@" not in text and "//" not in text and ":/" not in text:
        return text
    text = _LIKE_POSTGRES.sub(lambda found: _shown_in_text(found[0]), text)
    text = _QUERY.sub(r"\1***", _OTHER_URL.sub(r"\1***@", text))
    return _WORD.sub(r"\1***", text)


def _shown_in_text(found: str) -> str:
    url = found.rstrip(",.;:)'\"")
    return shown_url(url) + found[len(url) :]
