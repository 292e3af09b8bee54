"""Learning in rounds: the result depends on files and chains, not on where and how often tasks are computed."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from novikoff.data.encoding import Features
from novikoff.distributed.engines import SerialEngine
from novikoff.distributed.learning import RoundObserver, Rounds, new_learner
from novikoff.errors import ClusterError, DataError, RuleError
from novikoff.streaming.model import StreamModel
from tests.distributed.conftest import write_tables


def learned_bytes(path, files, cluster=None, **options):
    nk.distributed.learn(
        files, **{"target": "y", "rounds": 3, "chains": 3, "cluster": cluster, "checkpoint": path} | options
    )
    return Path(path).read_bytes()


class ThreadEngine:
    """Computes tasks in threads, and shows that an engine needs no more than `map`."""

    def map(self, function, items):
        with ThreadPoolExecutor(4) as pool:
            yield from pool.map(function, items)


class BackwardEngine:
    """Computes every task twice, the last first, as a cluster might after deaths."""

    def map(self, function, items):
        for item in items:
            function(item)
        return [function(item) for item in reversed(items)][::-1]


def test_any_engine_gives_the_same_bytes(tmp_path, tables, cluster):
    expected = learned_bytes(tmp_path / "a.nk", tables)
    for engine in (ThreadEngine(), BackwardEngine(), SerialEngine(), cluster):
        assert learned_bytes(tmp_path / "b.nk", tables, engine) == expected
    for persist in (False, True, 20_000):
        assert learned_bytes(tmp_path / "b.nk", tables, persist=persist) == expected


def test_one_and_four_workers_give_the_same_bytes(tmp_path, tables):
    from distributed import Client, LocalCluster

    expected = learned_bytes(tmp_path / "a.nk", tables)
    for n_workers, n_threads in ((1, 1), (4, 1), (1, 3)):
        how = {"processes": False, "dashboard_address": None, "silence_logs": 50}
        with (
            LocalCluster(n_workers=n_workers, threads_per_worker=n_threads, **how) as local,
            Client(local, set_as_default=False) as client,
        ):
            assert learned_bytes(tmp_path / "b.nk", tables, client) == expected


@pytest.mark.parametrize("rule", ["margin", "passive-aggressive", "arow", "adagrad", "coin"])
def test_every_rule_learns_and_is_resumed_to_the_same_bytes(tmp_path, tables, rule):
    expected = learned_bytes(tmp_path / "a.nk", tables, rule=rule)
    learned_bytes(tmp_path / "b.nk", tables, rule=rule, rounds=1)
    assert learned_bytes(tmp_path / "b.nk", tables, rule=rule, resume=True) == expected
    model = nk.load(tmp_path / "b.nk")
    assert model.ledger.examples == 3 * sum(model.cluster_run.rows)
    assert model.score(tables[0]) > 0.8


def test_one_chain_and_one_round_learn_what_one_pass_with_known_moments_learns(tmp_path, tables):
    """Row by row in the order of the files, with the encoding of all rows."""
    model = nk.distributed.learn(tables, target="y", chains=1)
    learner = model.model.learner
    state = learner.init(model.n_features)
    for path in tables:
        with nk.open_stream(path, target="y") as reader:
            for block in reader:
                codes = (np.asarray(block.labels) == "yes").astype(np.int64)
                state = learner.update(state, model.encoding.encode(block), codes)
    np.testing.assert_allclose(model.model.state.raw.coef, state.raw.coef, rtol=1e-12)
    assert model.ledger.mistakes == learner.ledger(state).mistakes


def test_svmlight_and_named_features(tmp_path, cluster):
    rng = np.random.default_rng(3)
    svm, vw = [], []
    for k in range(4):
        X, lines, named = rng.normal(size=(60, 5)).round(2), [], []
        for row in X:
            label = 1 if row[0] > row[1] else -1
            some = [(j, v) for j, v in enumerate(row, start=1) if j < 3 or rng.random() < 0.2]
            lines.append(f"{label} " + " ".join(f"{j}:{v}" for j, v in some))
            named.append(f"{label} | " + " ".join(f"f{j}:{v}" for j, v in some) + f" only{k}")
        for names, suffix, content in ((svm, "svm", lines), (vw, "vw", named)):
            names.append(tmp_path / f"p{k}.{suffix}")
            names[-1].write_text("\n".join(content) + "\n")
    for files in (svm, vw):
        options = {"target": None, "rounds": 2, "chains": 2}
        expected = learned_bytes(tmp_path / "a.nk", files, **options)
        assert learned_bytes(tmp_path / "b.nk", files, cluster, **options) == expected
        assert nk.load(tmp_path / "b.nk").score(files[0]) > 0.9


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket"])
def test_three_labels_of_which_no_file_has_all(tmp_path, hypothesis):
    rng = np.random.default_rng(6)
    for k in range(4):
        X = rng.normal(size=(80, 2)).round(2)
        y = np.array(["red", "green", "blue"])[np.argmax(X @ [[1.0, -1.0, 0.0], [0.0, 0.3, -1.0]], axis=1)]
        kept = y != "blue" if k % 2 else y != "red"
        rows = zip(X[kept].tolist(), y[kept], strict=True)
        (tmp_path / f"p{k}.csv").write_text("u,v,y\n" + "".join(f"{u},{v},{label}\n" for (u, v), label in rows))
    files = sorted(map(str, tmp_path.glob("*.csv")))
    expected = learned_bytes(tmp_path / "a.nk", files, hypothesis=hypothesis, hats=False)
    assert learned_bytes(tmp_path / "b.nk", files, BackwardEngine(), hypothesis=hypothesis, hats=False) == expected
    model = nk.load(tmp_path / "a.nk")
    assert model.labels == ["blue", "green", "red"]
    if hypothesis != "pocket":  # whose longest run is that of one chain, over the labels of its files
        assert np.mean([model.score(path) for path in files]) > 0.8


def test_the_model_goes_on_learning_on_one_machine(tables):
    model = nk.distributed.learn(tables, target="y", rounds=2)
    before = model.ledger.examples
    model.learn([{"u": 1.0, "v": 0.5, "word": "new"}], ["yes"])
    assert model.ledger.examples == before + 1
    assert "word=new" in model.names


def test_weighted_mistakes_stay_below_the_bound_of_the_margin(tmp_path):
    rng = np.random.default_rng(5)
    for k in range(4):
        X = rng.normal(size=(100, 2)).round(2)
        rows = [(u, v) for u, v in X.tolist() if abs(u + v) > 0.4]
        text = "".join(f"{u},{v},{'yes' if u + v > 0 else 'no'}\n" for u, v in rows)
        (tmp_path / f"p{k}.csv").write_text("u,v,y\n" + text)
    files = str(tmp_path / "*.csv")
    model = nk.distributed.learn(files, target="y", rounds=20, chains=3, scale=False)
    proof = nk.distributed.certify(files, target="y")
    assert proof
    assert model.ledger.weighted_mistakes <= proof.verdict.mistake_bound
    assert model.ledger.mistakes > model.ledger.weighted_mistakes


# -- what is refused


def test_auto_voted_and_functions_are_refused(tables):
    for given, message in (
        ({"rule": "auto"}, "'auto' cannot be forked"),
        ({"hypothesis": "voted"}, "'voted' keeps the rows"),
        ({"rule": lambda margin, squared_norm: 1.0}, "function"),
    ):
        with pytest.raises(RuleError, match=message):
            nk.distributed.learn(tables, target="y", **given)


def test_other_columns_are_refused_before_any_row_is_read(tmp_path, tables):
    other = tmp_path / "part7.csv"
    other.write_text("u,v,colour,y\nbad row\n")
    with pytest.raises(DataError, match=r"part7\.csv has other columns than .*lacks 'word' and has 'colour' besides"):
        nk.distributed.learn([*tables, other], target="y")
    for name, text in (("p.svm", "1 1:2\n"), ("p.vw", "1 | a\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match="different formats"):
        nk.distributed.learn([tmp_path / "p.svm", tmp_path / "p.vw"])


def test_a_bad_row_is_named_by_its_file_and_line(tmp_path, cluster):
    files = write_tables(tmp_path, 40, n=3)
    bad = tmp_path / "part37.csv"
    lines = bad.read_text().splitlines()
    lines[5] = "1.0,what,a,yes"
    bad.write_text("\n".join(lines) + "\n")
    for where in (None, cluster):
        with pytest.raises(DataError, match=r"part37\.csv:6:"):
            nk.distributed.learn(files, target="y", cluster=where)
    model = nk.distributed.learn(files, target="y", bad_rows="skip", rejects=tmp_path / "rejects", cluster=cluster)
    assert "part37.csv:6:" in (tmp_path / "rejects").read_text()
    assert model.cluster_run.rows[files.index(str(bad))] == len(lines) - 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rounds": 0}, "rounds must be 1"),
        ({"chains": 9}, "chains must be a number from 1 to that of the files, 5; found 9"),
        ({"persist": "much"}, "persist must be"),
        ({"resume": True}, "resume needs the checkpoint"),
    ],
)
def test_arguments_are_checked(tables, given, message):
    with pytest.raises(DataError, match=message):
        nk.distributed.learn(tables, target="y", **given)


def test_files_that_are_named_twice_or_are_not_there(tmp_path, tables):
    with pytest.raises(DataError, match="named twice"):
        nk.distributed.learn([tables[0], tables[0]], target="y")
    with pytest.raises(DataError, match="no file matches"):
        nk.distributed.learn(str(tmp_path / "none*.csv"), target="y")
    with pytest.raises(DataError, match="no such file"):
        nk.distributed.learn([*tables, str(tmp_path / "gone.csv")], target="y")


def test_without_dask_the_extra_is_named(monkeypatch, tables):
    monkeypatch.setattr("novikoff.distributed.engines.find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r'needs distributed\. Install the extra "dask"'):
        nk.distributed.learn(tables, target="y", cluster="local:2")
    assert nk.distributed.learn(tables, target="y").labels == ["no", "yes"]


def test_what_is_no_path_is_refused():
    with pytest.raises(DataError, match=r"Expected paths of files, found DataFrame\. Write a collection of Dask"):
        nk.distributed.learn(pd.DataFrame({"x": [1.0], "y": ["no"]}))


def test_a_cluster_that_is_none():
    for cluster, message in (("somewhere", "is no cluster"), ("local:0", "no workers")):
        with pytest.raises(ClusterError, match=message):
            nk.distributed.learn("a.csv", cluster=cluster)


def test_sorted_files_are_told(tmp_path):
    for k, label in enumerate(("no", "yes")):
        (tmp_path / f"p{k}.csv").write_text("x,y\n" + "".join(f"{k + i / 50},{label}\n" for i in range(40)))
    with pytest.warns(UserWarning, match="come sorted by label"):
        nk.distributed.learn(str(tmp_path / "*.csv"), target="y")


# -- interrupts, deaths and resuming


class StoppingObserver(RoundObserver):
    """Raises an error after some chains of a round."""

    def __init__(self, round_number, error):
        self.round_number, self.error, self.rounds = round_number, error, 0

    def on_chain(self, n_done, n_chains):
        if self.rounds == self.round_number and n_done == 2:
            raise self.error

    def on_round(self, done):
        self.rounds += 1


@pytest.mark.parametrize("round_number", [0, 2])
def test_an_interrupted_run_is_resumed_to_the_same_bytes(tmp_path, tables, round_number):
    expected = learned_bytes(tmp_path / "a.nk", tables, rounds=4)
    with pytest.raises(KeyboardInterrupt):
        learned_bytes(tmp_path / "b.nk", tables, rounds=4, observer=StoppingObserver(round_number, KeyboardInterrupt()))
    assert nk.load(tmp_path / "b.nk").cluster_run.rounds_done == round_number
    assert learned_bytes(tmp_path / "b.nk", tables, rounds=4, resume=True) == expected
    assert learned_bytes(tmp_path / "b.nk", tables, rounds=4, resume=True) == expected  # nothing is left to do


def test_resuming_refuses_what_has_changed(tmp_path, tables):
    path = tmp_path / "m.nk"
    learned_bytes(path, tables, rounds=1)
    for files, options, message in (
        (tables[:-1], {}, r"these are others, for instance .*part4\.csv"),
        (tables[::-1], {}, "another order"),
        (tables, {"chains": 2}, "has 3 chains, not 2"),
        (tables, {"rule": "margin"}, "rule="),
    ):
        with pytest.raises(DataError, match=message):
            learned_bytes(path, files, resume=True, **options)
    with open(tables[2], "a") as file:
        file.write("1,1,a,yes\n")
    with pytest.raises(DataError, match=r"part2\.csv has .* bytes; it had"):
        learned_bytes(path, tables, resume=True)


def test_a_file_that_changes_during_a_run_is_refused(tables):
    class ChangingObserver(RoundObserver):
        def on_round(self, done):
            with open(tables[1], "a") as file:
                file.write("1,1,a,yes\n")

    with pytest.raises(DataError, match=r"part1\.csv has 138 rows; it had 137 when this run began"):
        nk.distributed.learn(tables, target="y", rounds=2, persist=False, observer=ChangingObserver())


def kill_once(flag, function):
    """Return a task that ends its worker the first time that it is computed."""

    def task(*args):
        try:
            Path(flag).touch(exist_ok=False)
        except FileExistsError:
            return function(*args)
        os.kill(os.getpid(), signal.SIGKILL)

    return task


class DeadlyEngine:
    """Hands tasks to a cluster; the first to compute a chain is killed."""

    def __init__(self, client, flag):
        from novikoff.distributed.dask_engine import DaskEngine

        self._engine, self._flag = DaskEngine(client), flag

    def map(self, function, items):
        from functools import partial

        if function.func.__name__ == "learn_chain":
            function = partial(kill_once(self._flag, function.func), *function.args)
        return self._engine.map(function, items)


def test_a_worker_that_is_killed_in_a_round_changes_nothing(tmp_path, tables, cluster):
    expected = learned_bytes(tmp_path / "a.nk", tables)
    assert learned_bytes(tmp_path / "b.nk", tables, DeadlyEngine(cluster, str(tmp_path / "flag"))) == expected
    assert (tmp_path / "flag").exists()


def end_process(item):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_task_that_kills_every_worker_ends_in_one_sentence(cluster):
    from novikoff.distributed.dask_engine import DaskEngine

    cluster.wait_for_workers(2)
    with pytest.raises(ClusterError, match=r"A task has ended its worker \d times, and is not tried again"):
        list(DaskEngine(cluster).map(end_process, [1]))


def test_a_cluster_without_workers_is_no_reason_to_wait_for_ever(monkeypatch):
    from distributed import Client, LocalCluster

    from novikoff.distributed import dask_engine

    monkeypatch.setattr(dask_engine, "_CHECK_EVERY", 0.05)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=None, silence_logs=50) as local,
        Client(local, set_as_default=False) as client,
        pytest.raises(ClusterError, match="All workers of the cluster are gone"),
    ):
        list(dask_engine.DaskEngine(client).map(len, ["a"]))


SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def test_after_the_scheduler_is_gone_the_run_is_resumed(tmp_path, tables):
    expected = learned_bytes(tmp_path / "a.nk", tables)
    script = tmp_path / "scheduler.py"
    script.write_text(SCHEDULER)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, str(script)], **pipes, start_new_session=True) as process:
        try:
            address = process.stdout.readline().decode().strip()

            class KillingObserver(RoundObserver):
                def on_round(self, done):
                    if done.number == 1:
                        os.killpg(process.pid, signal.SIGKILL)

            with pytest.raises(ClusterError, match="scheduler"):
                learned_bytes(tmp_path / "b.nk", tables, address, observer=KillingObserver())
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert nk.load(tmp_path / "b.nk").cluster_run.rounds_done == 1
    assert learned_bytes(tmp_path / "b.nk", tables, resume=True) == expected
    with pytest.raises(ClusterError, match="no scheduler"):
        learned_bytes(tmp_path / "b.nk", tables, address)


def test_the_run_is_kept_in_the_model_file_and_forgotten_by_another(tmp_path, tables):
    path = tmp_path / "m.nk"
    learned_bytes(path, tables)
    model = StreamModel.load(path)
    assert model.cluster_run.chains == 3
    model.forget_run(tables)
    model.save(path)
    assert StreamModel.load(path).cluster_run is None
    with pytest.raises(DataError, match="has not learned on a cluster"):
        learned_bytes(path, tables, resume=True)


def test_rounds_can_be_run_by_hand(tables):
    rounds = Rounds(tables, new_learner("perceptron", None), Features(hats=False), rounds=2, options={"target": "y"})
    assert rounds.run(SerialEngine()).ledger.passes == 2
