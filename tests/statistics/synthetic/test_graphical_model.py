"""The graphical model against brute force over all rows of small tables."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.statistics.synthetic.fitting import Fitting, Interactions
from dpstats.statistics.synthetic.graphical_model import GraphicalModel, Measured
from dpstats.statistics.synthetic.junction_tree import JunctionTree
from dpstats.statistics.synthetic.propagation import Propagation
from dpstats.statistics.synthetic.smoothness import Smoothness

Floats = NDArray[np.float64]
SIZES = (3, 2, 4, 1, 2, 3)
CLIQUES = [(0, 1), (1, 2), (2, 4), (4, 0), (3, 5)]
"""A cycle of four columns, a column of one level, and a column apart."""


def summed(joint: Floats, columns: tuple[int, ...]) -> Floats:
    """A marginal with its axes in the order of `columns`."""
    kept = sorted(columns)
    table = joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in columns))
    return np.transpose(table, [kept.index(column) for column in columns])


def measured(joint: Floats, cliques: list[tuple[int, ...]], rng: np.random.Generator, noise: float) -> list[Measured]:
    tables = [(columns, 1000 * summed(joint, columns)) for columns in cliques]
    return [Measured(columns, table + rng.normal(0, noise, table.shape), max(1.0, noise**2)) for columns, table in tables]


@pytest.fixture(scope="module")
def joint() -> Floats:
    rng = np.random.default_rng(5)
    return rng.dirichlet(np.full(int(np.prod(SIZES)), 2.0)).reshape(SIZES)


@pytest.fixture(scope="module")
def noisy(joint: Floats) -> GraphicalModel:
    """Fitted to tables with so much noise that many counts are negative."""
    model = GraphicalModel(SIZES, ordered={0: 3, 2: 3})
    return model.fitted(measured(joint, CLIQUES, np.random.default_rng(1), 100.0), 1000.0, 200)


def test_a_model_without_tables_is_uniform() -> None:
    model = GraphicalModel(SIZES)
    for columns in [(), (2,), (0, 5), (5, 3, 1)]:
        table = model.marginal(columns)
        assert table.shape == tuple(SIZES[column] for column in columns)
        np.testing.assert_allclose(table, 1 / max(1, table.size), rtol=1e-14)


def test_messages_give_the_marginals_of_the_product_of_factors() -> None:
    rng = np.random.default_rng(3)
    tree = JunctionTree.of(SIZES, CLIQUES)
    propagation = Propagation(tree, [(1, 0), (1, 2), (4, 2), (4, 0), (5,), (2,)])
    exponents = rng.normal(0, 3, propagation.cells)
    assert propagation.run(exponents)
    product = np.ones(SIZES)
    for table, place in zip(propagation.tables, propagation.places, strict=True):
        axes = [SIZES[column] for column in table]
        factor = np.exp(exponents[place]).reshape(axes)
        turned = np.transpose(factor, np.argsort(table))
        product = product * turned.reshape([size if column in table else 1 for column, size in enumerate(SIZES)])
    product /= product.sum()
    for table, place in zip(propagation.tables, propagation.places, strict=True):
        np.testing.assert_allclose(propagation.marginals[place], summed(product, table).ravel(), rtol=1e-12)


def test_messages_whose_totals_are_nearly_no_floats_give_marginals() -> None:
    propagation = Propagation(JunctionTree.of((2, 2, 2), [(0, 1), (1, 2)]), [(0, 1), (1, 2), (2,)])
    exponents = np.array([-740.0, 0.0, -740.0, 0.0, 0.0, -300.0, -430.0, -730.0, -300.0, 0.0])
    assert propagation.run(exponents)
    np.testing.assert_allclose(propagation.marginals, [0.0, 0.5, 0.0, 0.5, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5], atol=1e-6)


def test_any_marginal_is_the_sum_of_the_joint_table(noisy: GraphicalModel) -> None:
    everything = noisy.marginal(range(len(SIZES)))
    assert everything.min() >= 0.0
    assert abs(everything.sum() - 1.0) < 1e-12
    for number in range(4):
        for columns in itertools.permutations(range(len(SIZES)), number):
            np.testing.assert_allclose(noisy.marginal(columns), summed(everything, columns), atol=1e-14)


def test_pairs_are_marginals_of_two_columns(noisy: GraphicalModel) -> None:
    pairs = noisy.pair_marginals()
    assert list(pairs) == list(itertools.combinations(range(len(SIZES)), 2))
    for pair, table in pairs.items():
        np.testing.assert_allclose(table, noisy.marginal(pair), atol=1e-14)


def test_cliques_agree_on_what_they_share(noisy: GraphicalModel) -> None:
    cliques = noisy.clique_marginals()
    for one, other in itertools.combinations(cliques, 2):
        shared = set(one.axes) & set(other.axes)
        np.testing.assert_allclose(one.summed_to(shared).values, other.summed_to(shared).values, atol=1e-14)


def test_columns_without_a_common_table_are_independent(noisy: GraphicalModel) -> None:
    np.testing.assert_allclose(noisy.marginal((0, 5)), np.outer(noisy.marginal((0,)), noisy.marginal((5,))), rtol=1e-10)


def test_a_fit_to_exact_tables_has_them_as_marginals(joint: Floats) -> None:
    exact = measured(joint, CLIQUES, np.random.default_rng(0), 0.0)
    model = GraphicalModel(SIZES).fitted(exact, 1000.0, 400, prior_rows=0)
    for each in exact:
        np.testing.assert_allclose(model.marginal(each.columns), summed(joint, each.columns), atol=1e-6)
    assert model.loss < 1e-6


def test_of_all_distributions_with_these_tables_the_model_is_the_product_of_factors() -> None:
    """Of two binary pairs that share a column, the ends are independent given the middle."""
    middle = np.array([0.5, 0.5])
    one, other = np.array([[0.4, 0.1], [0.2, 0.3]]), np.array([[0.1, 0.4], [0.35, 0.15]])
    tables = [Measured((1, 0), 100 * one, 1.0), Measured((1, 2), 100 * other, 1.0)]
    model = GraphicalModel((2, 2, 2)).fitted(tables, 100.0, 400, prior_rows=0)
    wanted = one[:, :, None] * other[:, None, :] / middle[:, None, None]
    np.testing.assert_allclose(model.marginal((1, 0, 2)), wanted, atol=1e-6)


def test_independence_is_believed_where_noise_hides_everything_and_not_where_counts_are_exact(joint: Floats) -> None:
    pair = 1000 * summed(joint, (0, 1))
    alone = [Measured((column,), 1000 * summed(joint, (column,)), 1e-4) for column in (0, 1)]
    independent = np.outer(summed(joint, (0,)), summed(joint, (1,)))
    for variance, wanted in [(1e-4, summed(joint, (0, 1))), (1e12, independent)]:
        model = GraphicalModel(SIZES).fitted([*alone, Measured((0, 1), pair, variance)], 1000.0, 400)
        np.testing.assert_allclose(model.marginal((0, 1)), wanted, atol=1e-4)


def test_belief_in_independence_leaves_single_columns_to_what_was_measured_best() -> None:
    pair = np.array([[100.0, 300.0], [400.0, 200.0]])
    vague = Measured((0,), np.array([900.0, 100.0]), 1e6)
    model = GraphicalModel((2, 2)).fitted([vague, Measured((0, 1), pair, 1.0)], 1000.0, 400, prior_rows=30)
    np.testing.assert_allclose(model.marginal((0,)), [0.4, 0.6], atol=1e-4)
    np.testing.assert_allclose(model.marginal((1,)), [0.5, 0.5], atol=1e-4)


def test_interactions_have_no_mean_along_any_axis_of_tables_of_several_columns() -> None:
    propagation = Propagation(JunctionTree.of(SIZES, [(0, 1, 2), (5, 4)]), [(1, 0, 2), (4, 5), (5,)])
    interactions = Interactions(propagation).of(np.random.default_rng(3).normal(size=propagation.cells))
    table = interactions[propagation.places[0]].reshape(2, 3, 4)
    for others in [(0, 1), (0, 2), (1, 2)]:
        np.testing.assert_allclose(table.sum(axis=others), 0.0, atol=1e-14)
    np.testing.assert_allclose(interactions[propagation.places[1]].reshape(2, 3).sum(axis=0), 0.0, atol=1e-14)
    assert np.abs(table).max() > 0.1
    assert not interactions[propagation.places[2]].any()


def test_noise_is_followed_less_where_levels_stand_in_order() -> None:
    """Two columns of twelve bins that rise together: neighbors tell each other what noise hides."""
    bins = np.arange(12.0)
    truth = np.exp(-np.square((bins[:, None] - bins) / 4))
    truth /= truth.sum()
    errors = {}
    for name, ordered in {"ordered": {0: 12, 1: 12}, "not": {}}.items():
        tables = [Measured((0, 1), 3000 * truth + np.random.default_rng(9).normal(0, 20, (12, 12)), 400.0)]
        model = GraphicalModel((12, 12), ordered=ordered).fitted(tables, 3000.0, 200)
        errors[name] = np.abs(model.marginal((0, 1)) - truth).sum() / 2
    assert errors["ordered"] < 0.8 * errors["not"]


def test_a_grown_model_is_the_same_distribution(noisy: GraphicalModel) -> None:
    larger = noisy.grown([(0, 2), (1, 5)])
    assert larger.tree.home((1, 5)) is not None
    everything = range(len(SIZES))
    np.testing.assert_allclose(larger.marginal(everything), noisy.marginal(everything), atol=1e-15)


def test_more_steps_never_raise_the_loss_and_a_fit_goes_on_where_it_ended(joint: Floats) -> None:
    tables = measured(joint, CLIQUES, np.random.default_rng(2), 20.0)
    uniform = GraphicalModel(SIZES, ordered={0: 3, 2: 3})
    losses = [uniform.fitted(tables, 1000.0, steps, prior_rows=0).loss for steps in (0, 1, 2, 5, 20, 100)]
    assert losses == sorted(losses, reverse=True)
    model = uniform.fitted(tables, 1000.0, 20, prior_rows=0)
    assert model.fitted(tables, 1000.0, 0).loss == model.loss
    assert model.fitted(tables, 1000.0, 20, prior_rows=0).loss < losses[-2]


def test_repeated_releases_of_a_table_count_by_their_precision() -> None:
    releases = [Measured((0, 1), np.array([[10.0, 30.0], [40.0, 20.0]]), 1.0), Measured((1, 0), np.full((2, 2), 25.0), 4.0)]
    together = GraphicalModel((2, 2)).fitted(releases, 100.0, 400, prior_rows=0).marginal((0, 1))
    np.testing.assert_allclose(together, [[0.13, 0.29], [0.37, 0.21]], atol=1e-6)


def test_counts_below_zero_end_near_zero_and_the_rest_is_projected() -> None:
    model = GraphicalModel((3,)).fitted([Measured((0,), np.array([-50.0, 60.0, 40.0]), 9.0)], 100.0, 500)
    np.testing.assert_allclose(model.marginal((0,)), [0.0, 0.6, 0.4], atol=1e-3)


@pytest.mark.parametrize("total", [-5.0, 0.0, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6])
def test_strange_counts_and_totals_still_make_a_distribution(total: float, scale: float) -> None:
    rng = np.random.default_rng(4)
    cliques = [(0, 1), (1, 2), (0, 2), (3, 0), (3,), (5, 4)]
    tables = [Measured(columns, rng.normal(0, scale, [SIZES[column] for column in columns]), 1.0) for columns in cliques]
    model = GraphicalModel(SIZES).fitted(tables, total, 50).fitted(tables, total, 20)
    for columns in [*cliques, (0, 5), (1, 2, 4)]:
        table = model.marginal(columns)
        assert np.isfinite(table).all()
        assert table.min() >= 0.0
        assert abs(table.sum() - 1.0) < 1e-9


def test_factors_whose_products_are_no_floats_are_drawn_nearer() -> None:
    """Three columns, of which each two should nearly always be equal, but for one pair that should never be."""
    tree = JunctionTree.of((2, 2, 2), [(0, 1), (1, 2), (0, 2)])
    propagation = Propagation(tree, [(0, 1), (1, 2), (0, 2)])
    far = np.array([0.0, -800, -800, 0, 0, -800, -800, 0, -800, 0, 0, -800])
    assert not propagation.run(far)
    fitting = Fitting(propagation, Smoothness({}), np.full(12, 0.25), [1.0, 1.0, 1.0])
    found = fitting.run(far, step=20.0, iterations=30)
    assert np.isfinite(found.exponents).all()
    assert abs(propagation.marginals.sum() - 3.0) < 1e-12
    assert found.loss <= 12 * 0.5 * (1 / 12) ** 2 + 1e-12  # as even as three such wishes allow


def test_forty_columns_are_no_trouble() -> None:
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 8, 40).tolist()
    pairs = [(column, int(rng.integers(column))) for column in range(1, 40)]
    tables = [Measured(pair, rng.normal(20, 5, [sizes[column] for column in pair]), 25.0) for pair in pairs]
    model = GraphicalModel(sizes).fitted(tables, 1000.0, 20)
    far = model.marginal((0, 20, 39))
    np.testing.assert_allclose(far.sum(axis=(1, 2)), model.marginal((0,)), atol=1e-12)
    marginals = model.pair_marginals()
    for pair in [(0, 39), (7, 20), (20, 39)]:
        np.testing.assert_allclose(marginals[pair], model.marginal(pair), atol=1e-14)


def test_how_counts_lie_in_memory_and_the_order_of_columns_change_no_bit(joint: Floats) -> None:
    rng = np.random.default_rng(8)
    tables = measured(joint, CLIQUES, rng, 30.0)
    strided = [Measured(each.columns, np.repeat(each.noisy_counts, 2, axis=-1)[..., ::2], each.variance) for each in tables]
    turned = [Measured(each.columns[::-1], np.asarray(each.noisy_counts).T, each.variance) for each in tables]
    plain, *others = (GraphicalModel(SIZES).fitted(each, 1000.0, 60) for each in (tables, strided, turned))
    for other in others:
        assert other.loss == plain.loss
        for columns in [(0, 1), (0, 4), (1, 4, 5)]:
            assert np.array_equal(other.marginal(columns), plain.marginal(columns))


def test_a_fit_is_known_to_the_last_bit() -> None:
    """On every processor and with any number of threads: these bits do not come from the machine that runs the test."""
    sizes = (7, 2, 20, 3, 11)
    tables = []
    for number, columns in enumerate([(0, 1), (1, 2), (2, 4), (4, 0), (3,)]):
        places = np.indices([sizes[column] for column in columns])
        rough = (37 * places.sum(axis=0) + 5 * places[0] + 101 * number) % 23
        tables.append(Measured(columns, 40 - 4 * np.abs(2 * places[-1] - places[0]) + rough, 25.0 + number))
    model = GraphicalModel(sizes, ordered={2: 19}).fitted(tables, 5000.0, 80)
    digest = hashlib.sha256(model.marginal((0, 3, 2)).tobytes()).hexdigest()
    assert (model.loss.hex(), digest[:16]) == ("0x1.6a05aa215e616p+17", "b747051dd2fd94bb")


def test_public_mistakes_are_named() -> None:
    with pytest.raises(InvalidParameterError, match="at least one column"):
        GraphicalModel(())
    with pytest.raises(InvalidParameterError, match="numbered from 0 to 1"):
        GraphicalModel((2, 2), [(0, 2)])
    with pytest.raises(InvalidParameterError, match="distinct"):
        GraphicalModel((2, 2)).marginal((0, 0))
    with pytest.raises(InvalidParameterError, match="variance"):
        GraphicalModel((2, 2)).fitted([Measured((0,), np.ones(2), 0.0)], 2.0)
