import json

import pytest

from ogg_hpc.training.metrics import Metrics


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
