"""A released fit of a family: its parameters by name, its table, its plain form, and the law that it makes."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dp
from dpstats.curator.archive import document_of, result_of
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.results import Interval, plain_value
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.fit import LikelihoodFit, fit_of, revive_fit
from dpstats.statistics.likelihood.frozen_laws import taken_apart

FIT: Any = LikelihoodFit("gamma", ("shape", "scale"), (2.0, 3.0), ((0.01, 0.0), (0.0, math.inf)), (0.05, math.inf), 10_012)
BARE: Any = LikelihoodFit("binomial(trials=10)", ("p",), (0.3,))


@dataclass(frozen=True)
class Plane:
    """A family of points in the plane, as far as a fit looks at it."""

    name: str = "multivariate_normal"
    parameters: tuple[str, ...] = ("mean_1", "mean_2", "cov_1_1", "cov_1_2", "cov_2_2")
    space: tuple[tuple[float, float], ...] = ((-math.inf, math.inf),) * 5
    bias_correction: str = "none"

    def fit_blocks(self, raw_blocks: Any) -> Floats:
        raise NotImplementedError

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        return {"mean": values[:2], "cov": np.array([[values[2], values[3]], [values[3], values[4]]]), "mean_1": values[0]}


PLANE: Any = fit_of(Plane(), np.array([1.0, -1.0, 4.0, 1.0, 9.0]), noisy_rows=50)


def release(fit: LikelihoodFit, **fields: Any) -> dp.Release:
    return dp.Release("mle(gamma, income)", fit, dp.PrivacyCost(1), "m", "epsilon-DP", True, **fields)


def test_parameters_are_attributes_and_items_and_come_in_their_order() -> None:
    assert (FIT.shape, FIT.scale, FIT["scale"]) == (2.0, 3.0, 3.0)
    assert FIT.parameters == {"shape": 2.0, "scale": 3.0}
    shape, scale = FIT
    assert (shape, scale, len(FIT)) == (2.0, 3.0, 2)
    assert np.asarray(FIT).tolist() == FIT.params.tolist() == [2.0, 3.0]
    assert {"shape", "scale", "conf_int"} <= set(dir(FIT))
    assert "shape" in FIT
    assert 2.0 not in FIT


def test_vectors_and_matrices_are_attributes_too() -> None:
    assert PLANE.mean.tolist() == [1.0, -1.0]
    assert PLANE.cov.tolist() == PLANE["cov"].tolist() == [[4.0, 1.0], [1.0, 9.0]]
    assert PLANE.mean_1 == 1.0
    with pytest.raises(ValueError, match="read-only"):
        PLANE.cov[0] = 1.0


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(dp.UnknownNameError, match="it has shape, scale"):
        FIT["rate"]
    with pytest.raises(AttributeError, match="no attribute 'rate'"):
        _ = FIT.rate
    with pytest.raises(AttributeError, match="function of private rows"):
        _ = FIT.aic
    with pytest.raises(AttributeError, match="no attribute"):
        object.__new__(LikelihoodFit).values  # noqa: B018 - a half-made fit, as in copying, must not ask itself for ever


def test_a_field_hides_a_parameter_of_its_name_but_not_its_item() -> None:
    fit = LikelihoodFit("model", ("names", "noisy"), (5.0, 6.0))
    assert fit.names == ("names", "noisy")
    assert fit["names"] == 5.0


def test_a_fit_of_one_parameter_is_a_number() -> None:
    assert float(BARE) == float(release(BARE)) == 0.3
    with pytest.raises(TypeError, match="2 parameters"):
        float(FIT)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(DpstatsError, match="a value for each"):
        LikelihoodFit("gamma", ("shape", "scale"), (1.0,))
    with pytest.raises(DpstatsError, match="an error for each"):
        LikelihoodFit("gamma", ("shape",), (1.0,), noise=(1.0, 2.0))


def test_errors_and_intervals_are_those_of_the_normal_law() -> None:
    assert FIT.errors.tolist() == FIT.bse.tolist() == pytest.approx([0.1, math.inf])
    assert FIT.conf_int(level=0.9)[0].tolist() == pytest.approx(stats.norm(2, 0.1).interval(0.9))
    assert FIT.cov_params().tolist()[0] == [0.01, 0.0]
    assert FIT.nobs == 10_012
    assert (BARE.errors, BARE.conf_int(), BARE.cov_params(), BARE.nobs) == (None,) * 4
    with pytest.raises(dp.InvalidParameterError, match="between 0 and 1"):
        FIT.conf_int(level=95)


def test_the_summary_has_a_line_for_each_parameter_and_leaves_out_what_is_unknown() -> None:
    lines = FIT.summary().splitlines()
    assert lines[0] == "Private maximum likelihood: gamma"
    assert lines[2].split() == ["parameter", "estimate", "std.", "error", "sampling", "noise", "[0.025", "0.975]"]
    assert lines[4].split() == ["shape", "2", "0.1", "75%", "25%", "1.804", "2.196"]
    assert lines[5].split() == ["scale", "3", "inf", "-inf", "inf"]
    assert lines[-2:] == ["rows: about 10,012", "Parts of the squared total error: sampling and privacy noise."]
    assert BARE.summary().splitlines()[2].split() == ["parameter", "estimate"]
    assert "<th" in FIT._repr_html_()
    assert "&lt;b&gt;" in LikelihoodFit("model", ("<b>",), (1.0,))._repr_html_()


def test_the_summary_of_a_release_shows_its_own_intervals() -> None:
    ours = (Interval(1.5, 2.5, 0.9, "noise"), Interval(2.0, 4.0, 0.9, "noise"))
    text = release(FIT, intervals=ours).summary()
    assert "[0.05" in text
    assert text.splitlines()[4].split()[-2:] == ["1.5", "2.5"]
    with pytest.raises(dp.InvalidParameterError, match="own release"):
        FIT.summary(ours[:1])


def test_a_name_cannot_write_lines_of_the_summary() -> None:
    assert len(LikelihoodFit("model", ("a\nb",), (1.0,)).summary().splitlines()) == 6


def test_a_fit_is_written_short() -> None:
    assert str(FIT) == "gamma(shape=2, scale=3)"
    assert str(BARE) == "binomial(p=0.3, trials=10)"
    assert str(LikelihoodFit("m", tuple(map(str, range(20))), (1.0,) * 20)).endswith("7=1, ... 20 parameters in all)")
    assert taken_apart("model(a, b)") == ("model(a, b)", {})


@pytest.mark.parametrize("fit", [FIT, BARE, PLANE])
def test_fits_come_back_from_their_plain_form(fit: Any) -> None:
    assert revive_fit(json.loads(json.dumps(plain_value(fit), allow_nan=False))) == fit
    statistic: Any = SimpleNamespace(revive=revive_fit)
    kept = json.loads(json.dumps(document_of(release(fit))))
    revived: Any = result_of(kept, statistic)
    assert revived.value == fit
    assert pickle.loads(pickle.dumps(fit)) == copy.deepcopy(fit) == fit
    assert hash(fit) == hash(copy.copy(fit))


LAWS: list[tuple[str, dict[str, float], Any]] = [
    ("normal", {"mean": 1, "std": 2}, stats.norm(1, 2)),
    ("lognormal", {"mu": 1, "sigma": 0.5}, stats.lognorm(0.5, scale=math.e)),
    ("exponential", {"scale": 2}, stats.expon(scale=2)),
    ("gamma", {"shape": 2, "scale": 3}, stats.gamma(2, scale=3)),
    ("weibull", {"shape": 2, "scale": 3}, stats.weibull_min(2, scale=3)),
    ("beta", {"alpha": 2, "beta": 3}, stats.beta(2, 3)),
    ("pareto", {"shape": 2, "scale": 3}, stats.pareto(2, scale=3)),
    ("poisson", {"rate": 2}, stats.poisson(2)),
    ("binomial(trials=10)", {"p": 0.3}, stats.binom(10, 0.3)),
    ("scipy.weibull_min(floc=1)", {"c": 2, "scale": 3}, stats.weibull_min(2, 1, 3)),
    ("scipy.nbinom", {"n": 2.5, "p": 0.3}, stats.nbinom(2.5, 0.3)),
    ("scipy.f(fdfn=3, floc=0)", {"dfd": 9, "scale": 2}, stats.f(3, 9, 0, 2)),
]


@pytest.mark.parametrize(("family", "parameters", "law"), LAWS)
def test_the_law_of_a_fit_is_the_one_that_scipy_has(family: str, parameters: dict[str, float], law: Any) -> None:
    fit = LikelihoodFit(family, tuple(parameters), tuple(parameters.values()))
    shares = np.array([0.1, 0.5, 0.9])
    assert fit.distribution().ppf(shares).tolist() == law.ppf(shares).tolist()


def test_a_negative_binomial_law_is_made_of_r_and_p() -> None:
    fit = LikelihoodFit("negative_binomial", ("mean", "dispersion"), (6.0, 0.5), shapes=(("r", 2.0), ("p", 0.25)))
    assert fit.distribution().mean() == pytest.approx(6.0)
    assert fit.distribution().var() == pytest.approx(6.0 + 0.5 * 36)


def test_the_law_in_the_plane_has_its_mean_and_covariance() -> None:
    assert PLANE.distribution().logpdf([1.0, -1.0]) == pytest.approx(-math.log(2 * math.pi * math.sqrt(35)))
    broken = fit_of(Plane(), [0.0, 0.0, 1.0, 5.0, 1.0])
    with pytest.raises(dp.InvalidParameterError, match="no covariance"):
        broken.distribution()


def test_a_family_that_scipy_does_not_have_says_so() -> None:
    with pytest.raises(dp.InvalidParameterError, match="no distribution for the family linear"):
        LikelihoodFit("linear", ("intercept",), (1.0,)).distribution()
