import json
import os
import resource
import signal

import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.metrics import Metrics


@pytest.mark.parametrize("present", [0, 1, 2, 3])
def test_what_a_resumed_run_writes_follows_what_is_kept(tmp_path, present):
    lines = [json.dumps({"step": step}) + "\n" for step in range(3)]
    path = tmp_path / "metrics.jsonl"
    if present:
        path.write_text("".join(lines[:present]))
    metrics = Metrics(tmp_path, len("".join(lines[:2])), step=0, tensorboard=False)
    metrics.write(9, {"loss": None})
    size = metrics.flush()
    metrics.close()
    assert size == path.stat().st_size
    found = [json.loads(line)["step"] for line in path.read_text().splitlines()]
    assert found == [*range(min(present, 2)), 9]


def curves(folder):
    """What TensorBoard makes of a folder, by curve: steps and values."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder)).Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def test_tensorboard_shows_each_step_once_whatever_was_resumed(tmp_path):
    for first, last in ((0, 4), (2, 6)):
        metrics = Metrics(tmp_path, 0, step=first, tensorboard=True)
        for step in range(first, last):
            values = {"loss": None if step == 0 else first + 0.5, "ratio": {"er20": step}}
            metrics.write(step, values | {"score": "no number"})
        metrics.flush()
        metrics.close()
    assert curves(tmp_path / "tensorboard") == {
        "loss": [(1, 0.5), *((step, 2.5) for step in range(2, 6))],
        "ratio/er20": [(step, step) for step in range(6)],
    }


@pytest.fixture
def small_disk():
    """Let no file of this process grow beyond 20,000 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("metrics.jsonl", {"text": "long " * 100}),
        ("tensorboard", {f"c{i}": {"x" * 100: 1} for i in range(9)}),
    ],
)
def test_failed_write_is_kept_for_the_flush_to_tell(tmp_path, small_disk, name, values):
    if name == "tensorboard":
        pytest.importorskip("tensorboard")
    metrics = Metrics(tmp_path, 0, step=0, tensorboard=True)
    for step in range(100):
        metrics.write(step, values)
        if name == "tensorboard":  # whose file alone is to be full
            os.truncate(tmp_path / "metrics.jsonl", 0)
    assert metrics.failure is not None
    with pytest.raises(InputError, match=f"{name}: cannot be written: File too large"):
        metrics.flush()
    metrics.close()


def test_folder_that_cannot_be_written_is_a_message(tmp_path):
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(InputError, match=r"metrics\.jsonl: cannot be written: Is a directory"):
        Metrics(tmp_path, 0, step=0, tensorboard=False)
    with pytest.raises(InputError, match=r"metrics\.jsonl: cannot be written: No such file"):
        Metrics(tmp_path / "none", 0, step=0, tensorboard=False)
