"""Signing in elsewhere, by OpenID Connect: the code flow with a secret of each browser (PKCE), a state and a nonce.

The three are random, and the browser keeps them in a cookie that no script reads: what comes back without them, or with those of
another browser, is refused. Who somebody is, the issuer says in a signed token; what they may do here, their roles say.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dpstats.foundations.errors import AccessError, MissingExtraError
from dpstats.web.settings import OidcSettings

SECRET = "DPSTATS_OIDC_SECRET"
ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
LEEWAY_SECONDS = 60
SECONDS = 10.0
_REFUSED = "this sign-in did not succeed: begin again, and if it fails again, tell an administrator."


@dataclass(frozen=True)
class Handshake:
    """What a browser keeps while its person signs in elsewhere."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Handshake:
        """A new one."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))

    @classmethod
    def read(cls, cookie: str) -> Handshake:
        """The one in a cookie."""
        parts = cookie.split(".")
        if len(parts) != 3 or not all(parts):
            raise AccessError(_REFUSED)
        return cls(*parts)

    @property
    def cookie(self) -> str:
        """As a cookie has it."""
        return f"{self.state}.{self.nonce}.{self.verifier}"


class Issuer:
    """The place where people sign in."""

    def __init__(self, settings: OidcSettings, back: str) -> None:
        """`back` is the address to which it sends browsers."""
        self._settings = settings
        self._back = back

    def address(self, handshake: Handshake) -> str:
        """Where a browser goes to sign in."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(handshake.verifier.encode()).digest()).rstrip(b"=").decode()
        words = {
            "response_type": "code",
            "client_id": self._settings.client,
            "redirect_uri": self._back,
            "scope": "openid profile email",
            "state": handshake.state,
            "nonce": handshake.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self._known()['authorization_endpoint']}?{urlencode(words)}"

    def name_of(self, code: str, state: str, handshake: Handshake) -> str:
        """The name of whoever came back with a code; everything that is wrong has the same words."""
        if not secrets.compare_digest(state.encode(), handshake.state.encode()):
            raise AccessError(_REFUSED)
        known = self._known()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._back,
            "client_id": self._settings.client,
            "code_verifier": handshake.verifier,
        }
        said = self._fetch("POST", known["token_endpoint"], data=form, auth=self._login())
        claims = self._claims(str(said.get("id_token", "")), known["jwks_uri"], handshake.nonce)
        name = claims.get(self._settings.claim)
        if not isinstance(name, str) or not name:
            raise AccessError(_REFUSED)
        return name

    def _claims(self, token: str, keys: str, nonce: str) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        must = {
            "iss": {"essential": True, "value": self._settings.issuer},
            "aud": {"essential": True, "value": self._settings.client},
            "exp": {"essential": True},
            "nonce": {"essential": True, "value": nonce},
        }
        try:
            found = jwt.decode(token, KeySet.import_key_set(self._fetch("GET", keys)), algorithms=list(ALGORITHMS))  # type: ignore[arg-type]
            jwt.JWTClaimsRegistry(leeway=LEEWAY_SECONDS, **must).validate(found.claims)  # type: ignore[arg-type]
        except (JoseError, ValueError, KeyError, TypeError):
            raise AccessError(_REFUSED) from None
        return found.claims

    def _known(self) -> dict[str, Any]:
        known = self._fetch("GET", f"{self._settings.issuer}/.well-known/openid-configuration")
        names = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
        if not all(isinstance(known.get(name), str) for name in names) or known["issuer"].rstrip("/") != self._settings.issuer:
            raise AccessError(_REFUSED)
        return known

    def _login(self) -> tuple[str, str] | None:
        secret = os.environ.get(SECRET)
        return (self._settings.client, secret) if secret else None

    def _fetch(self, method: str, address: str, **given: Any) -> dict[str, Any]:
        try:
            import httpx
            import joserfc  # noqa: F401
        except ImportError:
            raise MissingExtraError.about("signing in by OpenID Connect needs joserfc and httpx", "oidc") from None
        try:
            reply = httpx.request(method, address, timeout=SECONDS, follow_redirects=False, **given)
            said = reply.raise_for_status().json()
            assert isinstance(said, dict)
        except (httpx.HTTPError, ValueError, AssertionError):
            raise AccessError(_REFUSED) from None
        return said
