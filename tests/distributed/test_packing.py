"""States on their way to workers and back: what arrives is what was sent, bit by bit; and joining by differences."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Learner, Rows
from novikoff.distributed.mixing import join_packed
from novikoff.distributed.packing import pack_array, pack_state, unpack_state
from tests.support.strategies import integers

numbers = st.floats(width=64) | st.sampled_from([0.0, -0.0, np.nan, np.inf])


@given(st.lists(st.tuples(numbers, st.booleans(), numbers), max_size=30))
def test_arrays_arrive_bit_by_bit(entries):
    base = np.array([known for known, _, _ in entries])
    array = np.array([new if is_new else known for known, is_new, new in entries])
    packed = pickle.loads(pickle.dumps(pack_array(array, base)))
    assert packed.unpack(base).tobytes() == array.tobytes()


@pytest.mark.parametrize("rule", ["perceptron", "arow", "adagrad", "coin"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_states_arrive_as_they_were_sent(rule, n_classes):
    learner = Learner(rule, "averaged" if rule != "coin" else "pocket")
    X, codes = integers(1, 30, 4, n_classes)
    state = learner.update(learner.init(4, n_classes), Rows.of(X), codes)
    fork = learner.fork(state)
    end = learner.update(learner.fork(state), Rows.of(X[:5]), codes[:5])
    arrived = unpack_state(learner, pickle.loads(pickle.dumps(pack_state(end, fork))), fork)
    for name in ("raw", "sums", "pocket"):
        assert getattr(arrived, name).coef.tolist() == getattr(end, name).coef.tolist()
        assert getattr(arrived, name).bias.tolist() == getattr(end, name).bias.tolist()
    assert arrived.slots.tolist() == end.slots.tolist()
    assert (arrived.counts.tolist(), arrived.fork_of) == (end.counts.tolist(), state.digest())
    joined = learner.join(state, [arrived])
    assert joined.raw.coef.tolist() == learner.join(state, [end]).raw.coef.tolist()


def test_few_of_many_features_travel_as_differences():
    learner = Learner(hypothesis="averaged")
    X = sp.csr_array((np.ones(3), (np.arange(3), [7, 500, 99_999])), shape=(3, 100_000))
    fork = learner.fork(learner.init(100_000))
    end = learner.update(learner.fork(learner.init(100_000)), Rows.of(X), np.array([1, 0, 1]))
    assert pack_state(end, fork).nbytes < 200


@given(st.integers(0, 500), st.sampled_from([2, 3]), st.integers(1, 4), st.sampled_from(["last", "averaged"]))
def test_joining_by_differences_is_joining(seed, n_classes, n_chains, hypothesis):
    """What no chain has changed stays as it is; all else is the mean, as `Learner.join` has it."""
    rng, d = np.random.default_rng(seed), 60
    learner, state = Learner(hypothesis=hypothesis), Learner(hypothesis=hypothesis).init(d, n_classes)
    for _ in range(3):
        fork, ends = learner.fork(state), []
        for _ in range(n_chains):
            X = np.zeros((4, d))
            X[np.arange(4), rng.integers(0, d, 4)] = rng.integers(-2, 3, 4)
            end = learner.update(learner.fork(state), Rows.of(sp.csr_array(X)), rng.integers(0, n_classes, 4))
            ends.append(end)
        mixed = join_packed(learner, state, fork, [pack_state(end, fork) for end in ends])
        expected = learner.join(state, ends)
        for one, other in ((mixed.raw, expected.raw), (mixed.sums, expected.sums)):
            np.testing.assert_allclose(one.coef, other.coef, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(one.bias, other.bias, rtol=1e-12, atol=1e-12)
        assert mixed.counts.tolist() == expected.counts.tolist()
        np.testing.assert_allclose(mixed.measures, expected.measures, rtol=1e-12)
        assert mixed.fork_of is None
        state = mixed
