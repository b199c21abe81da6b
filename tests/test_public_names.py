"""The public names: sorted, complete, documented."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import pytest

import dpstats
import dpstats.functions
from dpstats.cli.main import COMMANDS
from dpstats.foundations import errors
from dpstats.foundations.registry import find_statistic

STATISTICS = [name for name in dir(dpstats) if name not in dpstats.__all__]
ROOT = Path(__file__).parents[1]


def test_the_names_are_sorted_and_exist() -> None:
    assert dpstats.__all__ == sorted(dpstats.__all__)
    assert all(hasattr(dpstats, name) for name in dpstats.__all__)


def test_every_error_is_public() -> None:
    tree = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, errors.DpstatsError)}
    assert tree <= set(dpstats.__all__)


def test_dir_lists_every_public_name_and_every_statistic() -> None:
    assert {*dpstats.__all__, "count", "median", "quantile", "iqr", "cdf"} <= set(dir(dpstats))
    assert dir(dpstats) == sorted(dir(dpstats))


def test_the_mechanisms_are_there() -> None:
    wanted = {"laplace", "gaussian", "exponential", "noisy_max", "randomized_response", "AboveThreshold"}
    assert wanted <= set(dpstats.mechanisms.__all__)
    assert dpstats.mechanisms.__all__ == sorted(dpstats.mechanisms.__all__) == dir(dpstats.mechanisms)
    for name in dpstats.mechanisms.__all__:
        assert inspect.getdoc(getattr(dpstats.mechanisms, name)), name


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_is_documented(name: str) -> None:
    statistic, function = find_statistic(name), getattr(dpstats, name)
    assert function.__name__ == function.__qualname__ == name
    assert function.__module__ == "dpstats"
    assert statistic.summary
    assert statistic.methods
    documentation = inspect.getdoc(function) or ""
    assert documentation.startswith(statistic.summary)
    assert all(f"  {parameter.name} " in documentation and parameter.help for parameter in statistic.parameters)
    assert all(method.claim in documentation for method in statistic.methods.values())


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_asks_for_epsilon_by_name_and_has_no_default_for_it(name: str) -> None:
    epsilon = inspect.signature(getattr(dpstats, name)).parameters["epsilon"]
    assert epsilon.kind is inspect.Parameter.KEYWORD_ONLY
    assert epsilon.default is inspect.Parameter.empty


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="dir\\(dpstats\\) lists what there is"):
        _ = dpstats.zzz
    assert not hasattr(dpstats, "__wrapped__")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("medain", "median"), ("meddian", "median"), ("var", "variance"), ("percentile", "quantile"), ("protct", "protect")],
)
def test_a_mistyped_name_gets_the_hint_that_a_session_gives(name: str, meant: str) -> None:
    table = dpstats.protect({"a": [1]}, unit="row", budget=dpstats.Budget(epsilon=1), ledger=":memory:")
    with pytest.raises(AttributeError, match=f"dpstats has no '{name}'; did you mean {meant}\\?"):
        getattr(dpstats, name)
    if meant != "protect":
        with pytest.raises(AttributeError, match=f"a Session has no '{name}'; did you mean {meant}\\?"):
            getattr(table, name)


def test_the_functions_are_also_found_in_the_module_that_has_their_types() -> None:
    assert dpstats.functions.median is dpstats.median
    assert set(dir(dpstats.functions)) <= set(dir(dpstats))
    with pytest.raises(AttributeError, match="has no 'medain'"):
        _ = dpstats.functions.medain


def test_a_statistic_is_one_object() -> None:
    from dpstats import median

    assert median is dpstats.median


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    assert f"dpstats {name}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert f"## {dpstats.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
