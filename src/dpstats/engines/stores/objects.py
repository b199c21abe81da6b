"""Objects in S3-like stores: their names, listings and versions, by the reader of pyarrow.

Who asks is told by the usual places of AWS (environment, profile, role of the machine), never by an address. A store that is not
AWS's own is named by the environment, too: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dpstats.engines.complaints import one_error_for, require, shown
from dpstats.engines.stores.paths import DELTA_LOG, ICEBERG_SUFFIX, PARQUET
from dpstats.engines.stores.versions import Version
from dpstats.foundations.errors import DataFileError, InvalidParameterError

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

SCHEME = "s3://"
_SECONDS_TO_CONNECT = 5.0
_SECONDS_TO_ANSWER = 20.0
_ATTEMPTS = 3
_ADDRESS = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?P<key>(?:/[^/@?#\\\x00-\x1f\x7f]+)*)/?")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_UNREACHED = "could not be reached: check its name, that it may be read, and that its store answers"
_END = 8
_BUFFER = 1 << 23


@dataclass(frozen=True)
class StoredObject:
    """An object of an S3-like store."""

    bucket: str
    key: str
    endpoint: str = field(repr=False)
    """The address of the store; empty for that of AWS."""

    def __str__(self) -> str:
        return f"{SCHEME}{self.path}"

    @property
    def path(self) -> str:
        """Its name as the reader takes it."""
        return f"{self.bucket}/{self.key}"

    @property
    def place(self) -> PurePosixPath:
        """Its name among paths. Which store answers for a bucket is left out: copies of one bucket are one place."""
        return PurePosixPath("s3:", self.path)

    def reader(self) -> S3FileSystem:
        """What reads its store."""
        return _reader(self.endpoint)

    def footer(self) -> io.BytesIO:
        """A file of nothing but the object's Parquet footer."""
        with self.reader().open_input_file(self.path) as octets:
            size = octets.size()
            end = octets.read_at(_END, max(size - _END, 0))
            length = min(int.from_bytes(end[:4], "little") + _END, size)
            return io.BytesIO(end[4:] + octets.read_at(length, size - length))


@dataclass(frozen=True)
class ObjectVersion(Version):
    """An object: its size, the store's tag of its content and its version, and when it was written."""

    file: StoredObject
    size: int
    tag: bytes
    version: bytes
    written: bytes

    @classmethod
    def of(cls, file: StoredObject) -> ObjectVersion:
        """The version that is there now."""
        with one_error_for(file, _UNREACHED):
            with file.reader().open_input_file(file.path) as octets:
                size, facts = octets.size(), octets.metadata()
            if not facts.get("ETag"):
                raise DataFileError(f"the store of {shown(file)} has no tags (ETag), which tell whether objects change.")
        if size == 0:
            raise DataFileError(f"{shown(file)} is empty.")
        return cls(file, size, facts["ETag"], facts.get("VersionId", b""), facts.get("Last-Modified", b""))

    def now(self) -> ObjectVersion:
        """The version that is there now."""
        return ObjectVersion.of(self.file)

    def octets(self) -> AbstractContextManager[Any]:
        """All of the object, streamed."""
        return _Stream(self.file.reader().open_input_stream(self.file.path, buffer_size=_BUFFER))

    def place(self) -> PurePosixPath:
        """The bucket and the key."""
        return self.file.place


class _Stream:
    """A stream of pyarrow's as Python's digests read it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:
        found = self._stream.read(len(room))
        room[: len(found)] = found
        return len(found)


def is_object_address(name: object) -> bool:
    """Whether a text names objects in a store."""
    return isinstance(name, str) and name.startswith(SCHEME)


def bucket_and_key(address: str) -> tuple[str, str]:
    """The parts of an address; an error, which does not repeat it, where it may hold anything else."""
    found = _ADDRESS.fullmatch(address)
    if found is None or any(part in (".", "..") for part in found["key"].split("/")):
        raise DataFileError(
            "objects are named by s3://bucket/folder/file.parquet, with no user, key, host or question mark in it: who asks is "
            "told by the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE), another store than AWS by AWS_ENDPOINT_URL."
        )
    return found["bucket"], found["key"].removeprefix("/")


def find_objects(names: Sequence[str]) -> tuple[tuple[tuple[StoredObject, PurePath], ...], PurePosixPath | None]:
    """The objects of one table, each with the folders between what was named and it; and the folder that is the table."""
    require("reading objects needs", "files", "polars", "pyarrow")
    found: list[tuple[StoredObject, PurePath]] = []
    root = None
    for name in names:
        bucket, key = bucket_and_key(name)
        if _is_pattern(key):
            found += _matching(name, bucket, key)
        elif _is_parquet(key):
            found.append((stored_object(bucket, key), PurePath()))
        else:
            found += _objects_in(name, bucket, key)
            root = stored_object(bucket, key).place if len(names) == 1 else None
    if len({each for each, _ in found}) < len(found):
        raise DataFileError("an object is named twice: its rows would count twice.")
    return tuple(found), root


def stored_object(bucket: str, key: str) -> StoredObject:
    """An object in the store that the environment names."""
    return StoredObject(bucket, key, next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), ""))


@cache
def _reader(endpoint: str) -> S3FileSystem:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    words: dict[str, Any] = {}
    if endpoint:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.path.strip("/"):
            raise InvalidParameterError(
                "AWS_ENDPOINT_URL must be the address of a store, such as https://store.example.org:9000."
            )
        words = {"scheme": parts.scheme, "endpoint_override": parts.netloc}
    retry = AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS)
    return S3FileSystem(connect_timeout=_SECONDS_TO_CONNECT, request_timeout=_SECONDS_TO_ANSWER, retry_strategy=retry, **words)


def _is_pattern(key: str) -> bool:
    return "*" in key or "[" in key


def _is_parquet(key: str) -> bool:
    return PurePosixPath(key).suffix.lower() in PARQUET


def _listed(name: str, bucket: str, folder: str) -> list[str]:
    """The keys below a folder, in order."""
    from pyarrow.fs import FileSelector, FileType

    with one_error_for(name, _UNREACHED):
        place = stored_object(bucket, folder)
        found = place.reader().get_file_info(FileSelector(place.path.rstrip("/"), recursive=True))
        return sorted(each.path.removeprefix(f"{bucket}/") for each in found if each.type is FileType.File)


def _matching(name: str, bucket: str, pattern: str) -> list[tuple[StoredObject, PurePath]]:
    if not _is_parquet(pattern):
        raise DataFileError(f"{shown(name)} must end in .parquet: other files are not read from object stores.")
    parts = pattern.split("/")
    fixed = next(place for place, part in enumerate(parts) if _is_pattern(part))
    keys = [key.split("/") for key in _listed(name, bucket, "/".join(parts[:fixed]))]
    found = [key for key in keys if key[:fixed] == parts[:fixed] and _matches(key[fixed:], parts[fixed:])]
    if not found:
        raise DataFileError(f"no object matches {shown(name)}.")
    return [(stored_object(bucket, "/".join(key)), PurePath(*key[fixed:-1])) for key in found]


def _matches(key: list[str], pattern: list[str]) -> bool:
    """Whether the parts of a key fit those of a pattern, where ** stands for any number of folders; hidden ones fit no star."""
    if not pattern or not key:
        return not pattern and not key
    if pattern[0] == "**" and len(pattern) > 1:
        return _matches(key, pattern[1:]) or (not key[0].startswith(".") and _matches(key[1:], pattern))
    is_hidden = key[0].startswith(".") and not pattern[0].startswith(".")
    return not is_hidden and fnmatchcase(key[0], pattern[0]) and _matches(key[1:], pattern[1:])


def _objects_in(name: str, bucket: str, folder: str) -> list[tuple[StoredObject, PurePath]]:
    """The Parquet objects of a folder, and of folders in it that name columns, without those that writers hide."""
    found: list[tuple[StoredObject, PurePath]] = []
    for key in _listed(name, bucket, folder):
        below = PurePosixPath(key).relative_to(folder)
        if DELTA_LOG in below.parts or key.endswith(ICEBERG_SUFFIX):
            raise DataFileError(f"{shown(name)} is a Delta or Iceberg table: only those in folders of this machine are read.")
        if any(part.startswith((".", "_")) for part in below.parts) or not _is_parquet(key):
            continue
        if not all("=" in part[1:] for part in below.parts[:-1]):
            raise DataFileError(
                f"{shown(name)} has folders in it whose names are no columns, as region=north would be: name the objects by a "
                f"pattern such as {shown(name.rstrip('/'))}/**/*.parquet."
            )
        found.append((stored_object(bucket, key), PurePath(*below.parts[:-1])))
    if not found:
        raise DataFileError(f"{shown(name)} has no Parquet objects in it.")
    return found
