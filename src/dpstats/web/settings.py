"""Settings of the service: the table `web` of a catalog's settings.

[web]
title = "Statistics of the office"
people = "people.sqlite"             # who may sign in
origin = "https://stats.example.org" # the address that browsers use
workers = 2                          # processes that answer requests
public = true                        # whether releases are shown to everybody

    [web.oidc]                           # people may sign in elsewhere, too: OpenID Connect
    issuer = "https://login.example.org"
    client = "dpstats"                   # its secret is in the environment: DPSTATS_OIDC_SECRET
    claim = "preferred_username"         # which claim is a person's name here
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

from dpstats.curator.catalog.settings import CatalogSettings, read_toml
from dpstats.curator.documents.values import refuse_unknown
from dpstats.foundations.errors import InvalidParameterError

PEOPLE = "people.sqlite"
ORIGIN = "http://127.0.0.1:8000"
_HERE = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class OidcSettings:
    """Where else people may sign in, by OpenID Connect."""

    issuer: str
    client: str
    claim: str = "preferred_username"

    @classmethod
    def read(cls, given: object) -> OidcSettings:
        """The settings in a table."""
        try:
            assert isinstance(given, Mapping)
            settings = cls(**given)
            assert all(isinstance(each, str) and each for each in vars(settings).values())
        except (AssertionError, TypeError):
            raise InvalidParameterError("web.oidc must have issuer and client, and may have claim: texts.") from None
        parts = urlsplit(settings.issuer)
        if parts.scheme != "https" and parts.hostname not in _HERE:
            raise InvalidParameterError("issuer of web.oidc must be an https:// address.")
        return cls(settings.issuer.rstrip("/"), settings.client, settings.claim)


@dataclass(frozen=True)
class WebSettings:
    """What the service is made with, beside its catalog."""

    people: str
    title: str = "Private statistics"
    origin: str = ORIGIN
    workers: int = 2
    public: bool = True
    oidc: OidcSettings | None = None

    @property
    def is_secure(self) -> bool:
        """Whether browsers come by TLS, so that cookies may go no other way."""
        return self.origin.startswith("https://")

    @classmethod
    def read(cls, given: Mapping[str, Any], folder: Path) -> WebSettings:
        """The settings in a table; paths are those from the folder."""
        words = [each.name for each in fields(cls)]
        for name in given:
            if name not in words:
                refuse_unknown("the service", name, words)
        oidc = OidcSettings.read(given["oidc"]) if "oidc" in given else None
        settings = cls(**{"people": PEOPLE, **given, "oidc": oidc})
        for name in ("people", "title", "origin"):
            if not isinstance(getattr(settings, name), str) or not getattr(settings, name):
                raise InvalidParameterError(f"{name} of the service must be a text.")
        if type(settings.workers) is not int or not 1 <= settings.workers <= 64:
            raise InvalidParameterError("workers of the service must be a whole number from 1 to 64.")
        if type(settings.public) is not bool:
            raise InvalidParameterError("public of the service must be true or false.")
        parts = urlsplit(settings.origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
            raise InvalidParameterError(f"origin of the service must be an address such as {ORIGIN}.")
        return cls(**{**vars(settings), "people": str(folder / settings.people), "origin": settings.origin.rstrip("/")})


def read_settings(path: str | PurePath) -> tuple[CatalogSettings, WebSettings]:
    """The settings of a catalog and of its service, from one TOML file."""
    given = read_toml(Path(path))
    web = given.get("web", {})
    if not isinstance(web, Mapping):
        raise InvalidParameterError("web must be a table of settings.")
    return CatalogSettings.read(path), WebSettings.read(web, Path(path).absolute().parent)
