import re
import subprocess
import sys
from pathlib import Path

import pytest
from stand_in_launcher import LAUNCHER

from ogg_hpc.errors import SettingsError
from ogg_hpc.scaling.folder import plan_folder
from ogg_hpc.scaling.jobscripts import SCHEDULERS, write_jobscripts
from ogg_hpc.scaling.study import load_study


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_script_for_each_number_of_ranks(folder, scheduler):
    paths = write_jobscripts(folder, scheduler, 2)
    assert [path.name for path in paths] == [f"small-p000{ranks}.sh" for ranks in (1, 2, 4)]
    for path in paths:
        text = path.read_text()
        assert not re.search(r"@[A-Z_]+@", text)
        assert 'source "${OGG_HPC_SITE:-jobscripts/site.sh}"' in text
        subprocess.run(["bash", "-n", path], check=True)


def test_slurm_gets_nodes_ranks_cores_and_gpus(study_file, tmp_path):
    study_file.write_text(study_file.read_text().replace('"cpu"', '"cuda"\nthreads = 7'))
    folder = plan_folder(load_study(study_file), tmp_path / "out")
    lines = write_jobscripts(folder, "slurm", 3)[-1].read_text().splitlines()
    assert {
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks=4",
        "#SBATCH --ntasks-per-node=3",
        "#SBATCH --cpus-per-task=7",
        "#SBATCH --gpus-per-task=1",
        "#SBATCH --time=30",
        f"#SBATCH --output={folder.path}/logs/%x-%j.out",
        "points=(search.p0004 train.p0004)",
    } <= set(lines)


def test_lsf_gets_nodes_and_resource_sets(folder):
    text = write_jobscripts(folder, "lsf", 3)[-1].read_text()
    assert "#BSUB -nnodes 2\n#BSUB -W 30\n#BSUB -r\n" in text
    assert "jsrun -n4 -a1 -g0 -c1 -brs -dpacked -EOMP_NUM_THREADS=1 -r3 ogg-hpc " in text


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_shellcheck_has_no_complaint(folder, scheduler):
    shellcheck = Path(sys.executable).with_name("shellcheck")
    for path in write_jobscripts(folder, scheduler, 2):
        done = subprocess.run([shellcheck, path], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_job_measures_what_has_no_record_and_goes_on_after_a_failure(folder, scheduler, tmp_path):
    path = write_jobscripts(folder, scheduler, 2)[0]
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("srun", "jsrun"):
        (tools / name).write_text(LAUNCHER)
    # scale measure POINT --output RECORD: notes the point, and fails for that of the search.
    (tools / "ogg-hpc").write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"with open({str(tmp_path / 'started')!r}, 'a') as f: print(sys.argv[3], file=f)\n"
        "if 'search' in sys.argv[3]: sys.exit(3)\n"
        "open(sys.argv[5], 'w').close()\n"
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    site = tmp_path / "site.sh"
    site.write_text(f"PATH={tools}:$PATH\n")

    def run():
        (tmp_path / "started").write_text("")
        variables = {"PATH": "/usr/bin:/bin", "OGG_HPC_SITE": str(site), "SLURM_JOB_ID": "17"}
        done = subprocess.run(["bash", path], env=variables, capture_output=True, text=True)
        started = (tmp_path / "started").read_text().splitlines()
        return done, [line.rpartition("/")[2] for line in started]

    done, started = run()
    assert started == ["search.p0001.json", "train.p0001.json"]
    assert (done.returncode, done.stderr) == (1, "not measured: search.p0001\n")
    assert run()[1] == ["search.p0001.json"]


def test_a_node_has_room_for_a_rank(folder):
    with pytest.raises(SettingsError, match="--ranks-per-node must be at least 1"):
        write_jobscripts(folder, "slurm", 0)
