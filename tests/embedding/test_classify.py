import sys

import numpy as np
import pytest

from ogg_hpc.embedding.evaluation.classify import (
    ClassifySettings,
    check_classifier,
    evaluate_classes,
    f1,
    most_likely,
    predict,
)
from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.runtime.communicator import Communicator

pytest.importorskip("sklearn")


def classes_of(seed, n=300, c=6, most=3):
    rng = np.random.default_rng(seed)
    members = np.zeros((n, c), bool)
    for row in members:
        row[rng.choice(c, rng.integers(1, most + 1), replace=False)] = True
    return members


def summary(record):
    return [(each["micro_f1"], each["macro_f1"]) for each in record["results"]]


def test_f1_of_known_decisions():
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0]], bool)
    predicted = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]], bool)
    # Of class 0: 1 hit of 2 + 2 decisions; of class 1: 2 of 3 + 2; of class 2: none of 0 + 1.
    each = [2 / 4, 4 / 5, 0]
    assert f1(truth, predicted) == pytest.approx((2 * 3 / 10, sum(each) / 3))


def test_as_many_classes_are_predicted_as_a_node_has():
    likelihoods = np.array([[0.1, 3, 2], [5, 5, -np.inf], [0, 1, 2], [1, 2, 3]])
    chosen = most_likely(likelihoods, np.array([2, 1, 0, 3]))
    assert chosen.tolist() == [
        [False, True, True],
        [True, False, False],
        [False, False, False],
        [True, True, True],
    ]


@pytest.mark.parametrize("normalise", ["l2", "none", "standard"])
def test_vectors_that_hold_the_classes_give_full_marks(normalise):
    members = classes_of(0)
    rng = np.random.default_rng(0)
    vectors = np.where(members, 1.0, -1.0) + rng.normal(0, 0.05, members.shape)
    settings = ClassifySettings((0.5,), shuffles=2, normalise=normalise, C=100)
    [(micro, macro)] = summary(evaluate_classes(Communicator(), vectors, members, settings))
    assert micro > 0.97
    assert macro > 0.97


@pytest.mark.parametrize("normalise", ["l2", "none", "standard"])
def test_random_vectors_give_chance(normalise):
    # A leak of labels anywhere shows as a score above that of a guess among equal classes.
    members = np.eye(5, dtype=bool)[np.arange(1000) % 5]
    vectors = np.random.default_rng(0).normal(size=(1000, 16))
    settings = ClassifySettings((0.5, 0.9), shuffles=5, normalise=normalise)
    for micro, macro in summary(evaluate_classes(Communicator(), vectors, members, settings)):
        assert micro == pytest.approx(0.2, abs=0.05)
        assert macro == pytest.approx(0.2, abs=0.05)


def test_of_test_nodes_only_the_number_of_classes_is_used():
    members = classes_of(1)
    vectors = np.random.default_rng(0).normal(size=(300, 8))
    train, test = np.arange(100), np.arange(100, 300)
    settings = ClassifySettings()
    likelihoods = predict(vectors, members[train], train, test, settings)
    for row in (vectors[250], 1e6 * np.ones(8)):  # nor do other test nodes matter
        changed = vectors.copy()
        changed[101:] = row
        again = predict(changed, members[train], train, test, settings)
        np.testing.assert_array_equal(again[0], likelihoods[0])


@pytest.mark.parametrize("normalise", ["l2", "none", "standard"])
@pytest.mark.parametrize("C", [0.01, 1, 100])
def test_likelihoods_are_those_of_the_regularised_minimum(normalise, C):
    members = classes_of(5)
    vectors = members @ np.random.default_rng(0).normal(size=(6, 8))
    vectors += np.random.default_rng(1).normal(size=(300, 8))
    train, test = np.arange(200), np.arange(200, 300)
    by_solver = [
        predict(vectors, members[train], train, test, ClassifySettings((), 1, normalise, C, solver))
        for solver in ("lbfgs", "newton-cholesky")  # liblinear holds the constant back, too
    ]
    np.testing.assert_allclose(by_solver[0], by_solver[1], rtol=0.01, atol=0.02)


def test_classes_that_none_or_all_of_the_training_nodes_have():
    vectors = np.random.default_rng(0).normal(size=(20, 4))
    members = np.zeros((20, 3), bool)
    members[:, 0] = True
    members[::2, 1] = True
    members[15:, 2] = True
    train, test = np.arange(12), np.arange(12, 20)
    likelihoods = predict(vectors, members[train], train, test, ClassifySettings())
    assert (likelihoods[:, 0] == np.inf).all()
    assert np.isfinite(likelihoods[:, 1]).all()
    assert (likelihoods[:, 2] == -np.inf).all()
    chosen = most_likely(likelihoods, np.full(8, 2))
    assert chosen[:, :2].all()


def test_rare_classes_do_not_stop_an_evaluation():
    members = classes_of(2, n=60, c=4)
    members = np.hstack([members, np.eye(60, 3, dtype=bool)])
    vectors = np.random.default_rng(0).normal(size=(60, 4))
    settings = ClassifySettings((0.1, 0.5), shuffles=4)
    record = evaluate_classes(Communicator(), vectors, members, settings)
    assert all(0 < micro < 1 for micro, _ in summary(record))


def test_nodes_without_classes_take_no_part():
    members = classes_of(3)
    vectors = np.random.default_rng(0).normal(size=(300, 8))
    settings = ClassifySettings((0.5,), shuffles=2)
    record = evaluate_classes(Communicator(), vectors, members, settings)
    padded = evaluate_classes(
        Communicator(),
        np.vstack([vectors, np.full((50, 8), np.nan)]),
        np.vstack([members, np.zeros((50, 6), bool)]),
        settings,
    )
    assert padded == record
    assert record["labelled_nodes"] == 300


def test_protocol_and_normalisation_are_in_the_record():
    members = classes_of(4, n=40)
    vectors = np.random.default_rng(0).normal(size=(40, 8))
    settings = ClassifySettings((0.25,), shuffles=3, normalise="standard", C=2.0, seed=9)
    record = evaluate_classes(Communicator(), vectors, members, settings)
    assert "the number k of classes of each test node is known" in record["protocol"]
    expected = {"normalise": "standard", "C": 2.0, "seed": 9, "shuffles": 3}
    assert {key: record[key] for key in expected} == expected
    [result] = record["results"]
    assert result["training_nodes"] == 10
    assert result["micro_f1_deviation"] > 0


@pytest.mark.parametrize(
    "wrong",
    [{"fractions": (1.5,)}, {"shuffles": 0}, {"C": 0.0}, {"normalise": "l3"}, {"solver": "x"}],
)
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong)).rstrip("s")):
        ClassifySettings(**wrong)


def test_a_fraction_that_leaves_no_test_node_is_refused():
    with pytest.raises(SettingsError, match=r"trains on 4 of 4 labelled nodes"):
        evaluate_classes(
            Communicator(), np.eye(4), np.ones((4, 2), bool), ClassifySettings((0.95,))
        )


def test_a_missing_scikit_learn_is_told(monkeypatch):
    check_classifier()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ogg-hpc\[evaluation\]'"):
        check_classifier()
