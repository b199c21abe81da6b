"""A store of objects for tests: as much of S3's protocol as a reader needs, on this machine, over HTTP."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import time
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest


class ObjectServer(ThreadingHTTPServer):
    """Holds objects by bucket and key."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.buckets: dict[str, dict[str, tuple[bytes, float, str]]] = {}
        self.denies = False
        self.reads = 0
        """How many ranges of objects were read."""
        self.page = 1000
        """The most keys in one part of a listing."""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def put(self, bucket: str, key: str, octets: bytes, written: float | None = None) -> str:
        """Put an object there, and say its address."""
        tag = f'"{hashlib.md5(octets, usedforsecurity=False).hexdigest()}"'
        self.buckets.setdefault(bucket, {})[key] = (octets, time() if written is None else written, tag)
        return f"s3://{bucket}/{key}"


class _Answer(BaseHTTPRequestHandler):
    server: ObjectServer

    def log_message(self, *_: Any) -> None:
        """Stays quiet."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).removeprefix("/").partition("/")
        if self.server.denies or not self.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256 Credential="):
            self._fail(403, "AccessDenied")
        elif bucket not in self.server.buckets:
            self._fail(404, "NoSuchBucket")
        elif not key:
            self._list(bucket, {name: found[0] for name, found in parse_qs(parts.query).items()})
        elif key not in self.server.buckets[bucket]:
            self._fail(404, "NoSuchKey")
        else:
            self._send_object(*self.server.buckets[bucket][key])

    def _list(self, bucket: str, asked: dict[str, str]) -> None:
        found = sorted(self.server.buckets[bucket].items())
        after = asked.get("continuation-token", "")
        keys = [item for item in found if item[0].startswith(asked.get("prefix", "")) and item[0] > after]
        shown, rest = keys[: self.server.page], keys[self.server.page :]
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(octets)}</Size><ETag>{tag}</ETag>"
            "<LastModified>2024-01-01T00:00:00.000Z</LastModified></Contents>"
            for key, (octets, _, tag) in shown
        )
        more = f"<NextContinuationToken>{escape(shown[-1][0])}</NextContinuationToken>" if rest else ""
        facts = f"<IsTruncated>{str(bool(rest)).lower()}</IsTruncated><KeyCount>{len(shown)}</KeyCount>{more}"
        self._send(200, _xml(f"<ListBucketResult><Name>{bucket}</Name>{facts}{entries}</ListBucketResult>"))

    def _send_object(self, octets: bytes, written: float, tag: str) -> None:
        facts = {"ETag": tag, "Last-Modified": formatdate(written, usegmt=True), "Accept-Ranges": "bytes"}
        asked = self.headers.get("Range")
        if asked is None:
            self._send(200, octets, facts)
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last or len(octets) - 1), len(octets) - 1)
        self.server.reads += 1
        self._send(206, octets[start : end + 1], {**facts, "Content-Range": f"bytes {start}-{end}/{len(octets)}"})

    def _fail(self, status: int, code: str) -> None:
        self._send(status, _xml(f"<Error><Code>{code}</Code><Message>no</Message></Error>"))

    def _send(self, status: int, body: bytes, facts: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(facts or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _xml(text: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode()


@contextmanager
def object_server() -> Iterator[ObjectServer]:
    """A server that answers until the block ends."""
    server = ObjectServer()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def name_store(patch: pytest.MonkeyPatch, url: str, secret: str = "secret") -> None:
    """Let the environment name a store, and who asks."""
    known = {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1"}
    for name, value in {**known, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        patch.setenv(name, value)
    patch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
