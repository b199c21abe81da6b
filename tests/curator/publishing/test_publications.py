"""What is published: a folder with a report, cards, tables and rows; and how it is verified."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.publishing.publication import Publication
from dpstats.curator.session import Session
from tests.documents import fixed_noise
from tests.questions import BrokenStore, UnreadableStore, session

PLAN: Mapping[str, Any] = {
    "title": "Incomes & <hours>",
    "description": "What was found.",
    "question": [
        {"title": "Half earn less", "statistic": "median", "columns": ["income"], "epsilon": 1},
        {
            "statistic": "median",
            "columns": ["income"],
            "epsilon": 1,
            "group_by": {"columns": ["region"], "keys": ["north", "south"]},
        },
        {
            "statistic": "contingency_table",
            "columns": ["region", "age"],
            "parameters": {"levels": {"region": ["north", "south"]}, "bins": {"age": [30, 60]}},
            "epsilon": 1,
        },
        {"statistic": "histogram", "columns": ["age"], "parameters": {"bins": [30, 60]}, "epsilon": 1},
        {"statistic": "linear_regression", "features": ["age"], "outcome": "income", "epsilon": 3, "delta": "1e-6"},
        {"statistic": "synthesize", "columns": ["age", "income"], "parameters": {"rows": 30}, "epsilon": 1},
    ],
}
ONE: Mapping[str, Any] = {"title": "One number", "question": [PLAN["question"][0]]}
QUESTIONS_OF_READERS = [
    "How large is epsilon?",
    "How large is delta?",
    "What is the unit of privacy?",
    "What is protected?",
    "Which tables are neighbours?",
    "How does it add up?",
    "What was public?",
    "By which mechanism?",
    "How accurate is it?",
    "Is it biased?",
    "Whom must one trust?",
    "Where does the noise come from?",
    "Are there side channels?",
    "Who can reach the rows?",
    "How were the data collected?",
    "What is not covered?",
    "Where is it written down?",
]


@pytest.fixture(autouse=True, scope="module")
def one_draw() -> Iterator[None]:
    """Noise from a fixed stream, of which the session does not know."""
    with fixed_noise():
        yield


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Publication, Path]:
    folder = tmp_path_factory.mktemp("published")
    survey = session(ledger=folder / "survey.ledger", name="survey", edition="1")
    return dp.publish(PLAN, out=folder / "report", session=survey), folder / "survey.ledger"


def report(publication: Publication) -> str:
    return (publication.folder / "report.html").read_text(encoding="utf-8")


def tables(publication: Publication) -> dict[str, list[list[str]]]:
    return {
        path.name: list(csv.reader(path.read_text(encoding="utf-8").splitlines())) for path in publication.folder.glob("*.csv")
    }


def test_the_folder_holds_what_the_manifest_names(published: tuple[Publication, Path]) -> None:
    publication, _ = published
    files = {path.name for path in publication.folder.iterdir()}
    assert files == {*publication.manifest["files"], "manifest.json"}
    assert files > {"report.html", "answers.json", "answers.csv", "02-groups.csv", "03-3-region-by-age.csv", "06-rows.parquet"}
    for name, digest in publication.manifest["files"].items():
        assert hashlib.sha256((publication.folder / name).read_bytes()).hexdigest() == digest
    assert json.loads((publication.folder / "manifest.json").read_bytes()) == publication.manifest
    assert publication.manifest["cost"]["epsilon_exact"] == "8"
    assert publication.manifest["dpstats"] == dp.__version__


def test_tables_and_rows_are_those_of_the_answers(published: tuple[Publication, Path]) -> None:
    publication, _ = published
    found = tables(publication)
    median, _, cells, histogram, fit, rows = publication.answers
    assert isinstance(median, dp.Release)
    assert float(found["answers.csv"][1][4]) == median.value
    assert [line[0] for line in found["02-groups.csv"]] == ["region", "north", "south"]
    assert isinstance(cells, dp.Release)
    assert found["03-3-region-by-age.csv"][0] == ["region", "age", "count", "low", "high"]
    counts = [float(line[2]) for line in found["03-3-region-by-age.csv"][1:]]
    assert counts == cells.value["region", "age"].counts.ravel().tolist()
    assert isinstance(histogram, dp.Release)
    assert [int(line[1]) for line in found["04-histogram.csv"][1:]] == list(histogram.value.counts)
    assert isinstance(fit, dp.Release)
    assert [line[0] for line in found["05-values.csv"]] == ["name", "Intercept", "age"]
    import pyarrow.parquet

    assert isinstance(rows, dp.Release)
    assert pyarrow.parquet.read_table(publication.folder / "06-rows.parquet").equals(rows.value.to_arrow())


def test_every_card_answers_what_readers_ask(published: tuple[Publication, Path]) -> None:
    publication, _ = published
    answers = json.loads((publication.folder / "answers.json").read_bytes())["answers"]
    assert len(answers) == 6
    for each in answers:
        assert list(each["card"])[: len(QUESTIONS_OF_READERS)] == QUESTIONS_OF_READERS
        assert all(each["card"].values())
    assert answers[0]["card"]["How large is epsilon?"].startswith("1 for this answer. Any one row changes")
    assert "a factor of at most 2.72" in answers[0]["card"]["How large is epsilon?"]
    assert "beyond that" in answers[4]["card"]["How large is epsilon?"]
    for heading in QUESTIONS_OF_READERS:
        assert report(publication).count(heading) == 6


def test_the_report_is_one_page_that_loads_nothing(published: tuple[Publication, Path]) -> None:
    publication, _ = published
    text = report(publication)
    assert "Incomes &amp; &lt;hours&gt;" in text
    assert "<hours>" not in text
    assert text.count("<svg") >= 4
    assert not re.search(r"<script|<link|<iframe|@import|\bsrc=|javascript:", text)
    assert set(re.findall(r'href="([^"#]+)"', text)) <= publication.manifest["files"].keys()
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)) <= {(name, "") for name in names} | {("", n) for n in names}
    assert """content="default-src &#x27;none&#x27;; style-src &#x27;unsafe-inline&#x27;;""" in text
    parser = _Balanced()
    parser.feed(text)
    assert parser.open == []


def test_the_report_can_be_read_aloud(published: tuple[Publication, Path]) -> None:
    text = report(published[0])
    assert '<html lang="en">' in text
    assert len(re.findall(r"<th\b", text)) == len(re.findall(r'<th [^>]*scope="(?:col|row)"', text))
    assert text.count("<svg ") == len(re.findall(r'<svg [^>]*role="img"', text))
    assert text.count("<svg ") == len(re.findall(r'<svg [^>]*aria-label="[^"]+"|<svg [^>]*><title>[^<]+</title>', text))
    assert [int(level) for level in re.findall(r"<h([1-6])", text)] == [1, *[2] * 7]


def test_nothing_says_where_the_files_were(published: tuple[Publication, Path], tmp_path: Path) -> None:
    publication, ledger = published
    for path in publication.folder.iterdir():
        content = path.read_bytes()
        for place in (ledger.parent, Path.home(), Path.cwd(), Path(sys.prefix), tmp_path.parent):
            assert str(place).encode() not in content


def test_without_matplotlib_answers_are_written_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    publication = dp.publish(ONE, out=tmp_path / "report", session=session())
    median = publication.answers[0]
    assert isinstance(median, dp.Release)
    assert "<svg" not in report(publication)
    assert median.shown_value() in report(publication)


def test_small_databases_and_weights_have_files(tmp_path: Path) -> None:
    bins = {"bins": {"age": [30, 60]}, "levels": {"region": ["north", "south"]}}
    asked = {"columns": ["region", "age"], "epsilon": 1}
    questions = [
        {"statistic": "small_database", "parameters": {"size": 4, **bins}, **asked},
        {"statistic": "mwem", "parameters": bins, **asked},
    ]
    publication = dp.publish({"title": "Both", "question": questions}, out=tmp_path / "report", session=session())
    found = tables(publication)
    assert [len(found[name]) for name in ("01-rows.csv", "02-weights.csv")] == [5, 7]
    assert found["02-weights.csv"][0] == ["region", "age", "count"]


def test_groups_of_tables_and_rows_are_tables_with_their_keys(tmp_path: Path) -> None:
    by = {"group_by": {"columns": ["region"], "keys": ["north", "south"]}, "epsilon": 1}
    questions = [{**PLAN["question"][place], **by} for place in (3, 5)]
    questions.append(
        {"statistic": "contingency_table", "columns": ["employed", "age"], "parameters": {"bins": {"age": [9]}}, **by}
    )
    publication = dp.publish({"title": "By region", "question": questions}, out=tmp_path / "report", session=session())
    found = tables(publication)
    assert found["01-histogram.csv"][0] == ["region", "bin", "rows", "low", "high"]
    assert found["02-rows.csv"][0] == ["region", "age", "income"]
    assert found["03-3-employed-by-age.csv"][0] == ["region", "employed", "age", "count", "low", "high"]
    assert [len(found[name]) for name in ("01-histogram.csv", "02-rows.csv", "03-3-employed-by-age.csv")] == [7, 61, 9]


def test_rows_are_csv_where_that_is_wanted(tmp_path: Path) -> None:
    rows = {"title": "Rows", "row_files": "csv", "question": [PLAN["question"][5]]}
    publication = dp.publish(rows, out=tmp_path / "report", session=session())
    assert len(tables(publication)["01-rows.csv"]) == 31


def test_publishing_again_costs_nothing_and_gives_the_same_files(tmp_path: Path) -> None:
    survey = session(name="survey", edition="1")
    first = dp.publish(PLAN, out=tmp_path / "first", session=survey)
    (tmp_path / "second").mkdir()
    second = dp.publish(PLAN, out=tmp_path / "second", session=survey)
    assert (first.repeated, second.repeated) == (False, True)
    assert first.manifest == second.manifest
    assert survey.ledger.spent == first.cost
    assert "nothing was spent" in repr(second)


def test_a_question_without_a_reply_is_published_among_the_others(tmp_path: Path) -> None:
    publication = dp.publish(ONE, out=tmp_path / "report", session=session(UnreadableStore()))
    assert isinstance(publication.answers[0], dp.NoReply)
    assert "No reply." in report(publication)
    assert tables(publication)["answers.csv"][1][3] == "no"
    assert dp.verify_publication(tmp_path / "report").sound


def test_what_was_tried_again_is_told_and_verified(tmp_path: Path) -> None:
    store = BrokenStore()
    survey = session(store, ledger=tmp_path / "survey.ledger", name="survey", edition="1")
    plan = {**ONE, "question": [ONE["question"][0], {**ONE["question"][0], "columns": ["hours"]}]}
    first = dp.publish(plan, out=tmp_path / "first", session=survey)
    assert "No reply. The answer could not be computed." in report(first)
    assert dp.verify_publication(first.folder, ledger=tmp_path / "survey.ledger").sound
    store.mended = True
    second = dp.publish(plan, out=tmp_path / "second", session=survey)
    assert "No reply." not in report(second)
    assert second.manifest["ledger"]["tried_again"][0]["questions"] == [2]
    assert second.manifest["cost"]["epsilon_exact"] == "3"
    assert report(second).count("question 2 once more") == 3  # both cards, and where it comes from
    for folder in (first.folder, second.folder):
        assert dp.verify_publication(folder).sound
        assert dp.verify_publication(folder, ledger=tmp_path / "survey.ledger").sound


@pytest.mark.parametrize("out", ["there", "file", "nowhere/report", ""])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_spent(out: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "something").touch()
    (tmp_path / "file").touch()
    survey = session()
    with pytest.raises(dp.DpstatsError):
        dp.publish(ONE, out=tmp_path / out if out else "", session=survey)
    assert survey.ledger.spent.epsilon == 0


def test_seeded_answers_are_marked_loudly(tmp_path: Path) -> None:
    publication = dp.publish(ONE, out=tmp_path / "report", session=session(allow_seeded=True), rng=dp.testing.seeded(7))
    assert "NOT PRIVATE" in report(publication)
    assert publication.manifest["private"] is False


def copied(publication: Publication, target: Path) -> Path:
    target.mkdir()
    for path in publication.folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


def test_what_was_published_is_sound_with_its_ledger_and_without(published: tuple[Publication, Path]) -> None:
    publication, ledger = published
    assert dp.verify_publication(publication.folder).sound
    assert str(dp.verify_publication(publication.folder, ledger=ledger)).endswith("the ledger has its entry")


def _change(folder: Path) -> None:
    (folder / "02-groups.csv").write_bytes(b"region,value\n")


def _remove(folder: Path) -> None:
    (folder / "06-rows.parquet").unlink()


def _add(folder: Path) -> None:
    (folder / "more.csv").touch()


def _change_plan(folder: Path) -> None:
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    (folder / "manifest.json").write_text(text.replace("Half earn less", "Half earn more"), encoding="utf-8")


def _lie_about_cost(folder: Path) -> None:
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    (folder / "manifest.json").write_text(text.replace('"epsilon_exact": "8"', '"epsilon_exact": "1"'), encoding="utf-8")


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (_change, "'02-groups.csv' was changed after it was published"),
        (_remove, "'06-rows.parquet' is missing"),
        (_add, "'more.csv' was not published"),
        (_change_plan, "the plan in the manifest does not match its hash"),
        (_lie_about_cost, "the answers' epsilon does not add up"),
    ],
)
def test_a_folder_that_was_tampered_with_is_found_out(
    tamper: Callable[[Path], None], says: str, published: tuple[Publication, Path], tmp_path: Path
) -> None:
    folder = copied(published[0], tmp_path / "copy")
    tamper(folder)
    found = dp.verify_publication(folder)
    assert not found.sound
    assert any(complaint.startswith(says) for complaint in found.complaints)
    assert str(found).endswith("NOT SOUND")


def test_a_forger_who_writes_the_hashes_anew_is_found_by_the_ledger(published: tuple[Publication, Path], tmp_path: Path) -> None:
    publication, ledger = published
    folder = copied(publication, tmp_path / "copy")
    answers = json.loads((folder / "answers.json").read_bytes())
    answers["answers"][0]["reply"]["value"] += 1
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    digest = hashlib.sha256((folder / "answers.json").read_bytes()).hexdigest()
    manifest = {**publication.manifest, "files": {**publication.manifest["files"], "answers.json": digest}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert dp.verify_publication(folder).sound
    found = dp.verify_publication(folder, ledger=ledger)
    assert found.complaints == ("'answers.json' has other answers than the ledger has archived",)


@pytest.mark.parametrize("name", ["02-groups.csv", "03-3-region-by-age.csv", "06-rows.parquet"])
def test_a_forger_of_tables_or_rows_is_found_by_the_ledger(
    name: str, published: tuple[Publication, Path], tmp_path: Path
) -> None:
    publication, ledger = published
    folder = copied(publication, tmp_path / "copy")
    forged = (folder / "02-groups.csv").read_bytes().replace(b"north", b"North")
    if name.endswith("parquet"):
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.parquet.read_table(folder / name).slice(1), folder / name)
        forged = (folder / name).read_bytes()
    (folder / name).write_bytes(forged)
    files = {**publication.manifest["files"], name: hashlib.sha256(forged).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps({**publication.manifest, "files": files}), encoding="utf-8")
    assert dp.verify_publication(folder).sound
    found = dp.verify_publication(folder, ledger=ledger)
    assert found.complaints == (f"{name!r} does not hold what the ledger has archived",)


def test_another_ledger_does_not_have_the_entry(published: tuple[Publication, Path], tmp_path: Path) -> None:
    other = session(ledger=tmp_path / "other.ledger", name="survey")
    other.count(epsilon=1)
    found = dp.verify_publication(published[0].folder, ledger=tmp_path / "other.ledger")
    assert found.complaints == ("the ledger does not have the entry that the manifest names",)


def test_a_manifest_cannot_name_files_elsewhere(published: tuple[Publication, Path], tmp_path: Path) -> None:
    folder = copied(published[0], tmp_path / "copy")
    manifest = {**published[0].manifest, "files": {**published[0].manifest["files"], "../secret": "0" * 64}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert dp.verify_publication(folder).complaints == ("'../secret' is missing",)


def test_what_is_no_plan_or_no_session_is_told(tmp_path: Path) -> None:
    with pytest.raises(dp.InvalidParameterError, match="a plan is the path of a TOML file"):
        dp.publish(3, out=tmp_path / "report")  # type: ignore[arg-type]
    with pytest.raises(dp.InvalidParameterError, match=r"session must come from dp\.protect"):
        dp.publish(ONE, out=tmp_path / "report", session=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("manifest", [None, "[", "[]", '{"form": 9, "files": {}}'])
def test_a_folder_without_a_manifest_is_no_publication(manifest: str | None, tmp_path: Path) -> None:
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(dp.DataFileError):
        dp.verify_publication(tmp_path)


def test_a_manifest_of_another_shape_is_a_complaint(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"form": 1, "files": {}, "plan": 3}', encoding="utf-8")
    assert not dp.verify_publication(tmp_path).sound


def test_a_narrowed_session_publishes_about_its_rows(tmp_path: Path) -> None:
    survey: Session = session().where("age >= 30")
    publication = dp.publish(ONE, out=tmp_path / "report", session=survey)
    assert publication.answers[0].question == "median(income) where age >= 30"


class _Balanced(HTMLParser):
    """The tags that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
