"""Where tables of a catalog may lie: nothing outside of its roots and hosts, by whatever way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpstats.curator.catalog.places import AllowedPlaces
from dpstats.foundations.errors import DataFileError, DpstatsError

REFUSAL = "this catalog takes no tables from there"


@pytest.fixture
def places(tmp_path: Path) -> AllowedPlaces:
    """One root with a table, one file outside of it, and links of all kinds."""
    root, outside = tmp_path / "tables", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    for file in (root / "survey.csv", root / "sub" / "visits.csv", outside / "secret.csv"):
        file.write_text("income\n1\n")
    (root / "link.csv").symlink_to(outside / "secret.csv")
    (root / "inside.csv").symlink_to(root / "survey.csv")
    (root / "folder").symlink_to(outside)
    return AllowedPlaces((root,), ("db.example.org", "other.example.org:5433"), ("clinic",))


@pytest.mark.parametrize("name", ["survey.csv", "sub/visits.csv", "sub/*.csv"])
def test_a_file_below_a_root_is_taken(places: AllowedPlaces, name: str) -> None:
    assert places.checked(name) == str(places.roots[0] / name)
    assert places.checked(str(places.roots[0] / name)) == str(places.roots[0] / name)


@pytest.mark.parametrize("address", ["s3://clinic/visits.parquet", "s3://clinic/visits/*.parquet", "s3://clinic/visits/"])
def test_an_object_in_a_listed_bucket_is_taken(places: AllowedPlaces, address: str) -> None:
    assert places.checked(address) == address
    with pytest.raises(DataFileError, match=REFUSAL):
        AllowedPlaces(places.roots, places.hosts).checked(address)  # no bucket, unless it is listed


@pytest.mark.parametrize(
    "name",
    [
        "../outside/secret.csv",
        "sub/../../outside/secret.csv",
        "link.csv",
        "inside.csv",
        "folder/secret.csv",
        "folder/*.csv",
        "*.csv",  # links among them
        "none.csv",
        "/etc/passwd",
        ".",
        "",
        "survey.csv\0.parquet",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/table.csv",
        "s3://bucket/table.parquet",
        "s3://clinic.bucket/table.parquet",
        "s3://clinic@bucket/table.parquet",
        "s3://clinic/../bucket/table.parquet",
        "s3://clinic\\bucket/table.parquet",
        "s3a://clinic/table.parquet",
        "S3://clinic/table.parquet",
    ],
)
def test_everything_else_is_refused(places: AllowedPlaces, name: str) -> None:
    with pytest.raises(DpstatsError):
        places.checked(name)


def test_a_refusal_does_not_say_whether_there_is_such_a_file(places: AllowedPlaces, tmp_path: Path) -> None:
    there, not_there = tmp_path / "outside" / "secret.csv", tmp_path / "outside" / "none.csv"
    said = []
    for file in (there, not_there):
        with pytest.raises(DataFileError, match=REFUSAL) as refused:
            places.checked(str(file))
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_a_root_may_itself_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "survey.csv").write_text("income\n1\n")
    (tmp_path / "root").symlink_to(tmp_path / "real")
    places = AllowedPlaces((tmp_path / "root",))
    assert places.checked("survey.csv") == os.fspath(tmp_path / "root" / "survey.csv")


@pytest.mark.parametrize("host", ["db.example.org", "me:secret@db.example.org", "other.example.org:5433"])
def test_a_database_on_the_list_is_taken(places: AllowedPlaces, host: str) -> None:
    address = f"postgresql://{host}/office#survey"
    assert places.checked(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://evil.example.org/office#survey",
        "postgresql://db.example.org:6000/office#survey",
        "postgresql://db.example.org.evil.org/office#survey",
        "postgresql:///office?host=evil.example.org#survey",
        "postgresql://db.example.org/office?host=evil.example.org#survey",
        "postgresql://db.example.org,evil.example.org/office#survey",
        "postgresql://me:secret@evil.example.org/office#survey",
        "postgresql://db.example.org:port/office#survey",
    ],
)
def test_other_databases_are_refused_and_passwords_are_not_repeated(places: AllowedPlaces, address: str) -> None:
    with pytest.raises(DataFileError, match=REFUSAL) as refused:
        places.checked(address)
    assert "secret" not in str(refused.value)


def test_candidates_are_files_that_would_be_taken(places: AllowedPlaces) -> None:
    root = places.roots[0]
    (root / ".hidden.csv").write_text("income\n1\n")
    (root / "notes.txt").write_text("no table")
    assert places.candidates() == ["sub/visits.csv", "survey.csv"]
    assert [places.shown(places.checked(each)) for each in places.candidates()] == places.candidates()
    assert (
        places.shown("postgresql://me:secret@db.example.org/people#public.survey")
        == "postgresql://db.example.org/people#public.survey"
    )
