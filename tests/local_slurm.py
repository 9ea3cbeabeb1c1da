"""A real Slurm on this machine alone: a controller, and two nodes with six GPUs each.

It needs root and the programs of Debian's packages ``slurm-wlm`` and ``munge``, and neither
systemd nor cgroups. All its files are in one folder, its ports are free ones, and its hosts are
given by address, so that it lives beside any other Slurm or munge and needs no name resolution.
GPUs are names alone: character devices that Slurm hands out, one a rank, as it does real ones.
"""

import os
import random
import re
import shutil
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from contained_process import ContainedProcess

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "srun")
NODES = ("n1", "n2")
GPUS = 6
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")

_CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
# MPICH names shared memory after jobs, and would find that of an earlier cluster.
FirstJobId={first_job}
AuthType=auth/munge
# Also the least time from the end of a job to its next start.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_min_interval=0
# A node that does not answer for this long has failed; one that is back may be used.
SlurmdTimeout=5
ReturnToService=2
KillWait=5
# More processors than there are, for scripts made for real nodes.
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=64 Gres=gpu:{gpus}
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=64 Gres=gpu:{gpus}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE
"""


def missing() -> str | None:
    """Return what this machine lacks for a Slurm, or None."""
    if os.geteuid() != 0:
        return "root"
    programs = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"{', '.join(programs)} (Debian: slurm-wlm, munge)" if programs else None


class LocalSlurm:
    """The cluster; a context manager that leaves no process behind.

    Parameters
    ----------
    folder
        A folder of its own, with a short path: it holds sockets.
    environment
        What its daemons and commands start from.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = {**environment, "SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: dict[str, ContainedProcess] = {}

    def __enter__(self) -> "LocalSlurm":
        """Start all daemons and wait until both nodes can be used."""
        try:
            self._configure()
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End all daemons and what they have started."""
        while self._daemons:
            self._daemons.popitem()[1].crash()

    def start_node(self, node: str) -> None:
        """Start the daemon of a node."""
        self._start("slurmd", "-D", "-N", node, name=node)

    def crash_node(self, node: str) -> None:
        """Kill the daemon of a node and all that runs there at once."""
        self._daemons.pop(node).crash()

    def run(self, *command: str | Path, folder: Path | None = None, limit: float = 60) -> str:
        """Run a command of Slurm; return what it prints."""
        result = subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=limit,
        )
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def logs(self) -> str:
        """Return the end of what all daemons have logged."""
        return "\n".join(
            f"{log}:\n{log.read_text(errors='replace')[-2000:]}" for log in self.folder.glob("*log")
        )

    def _configure(self) -> None:
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        for gpu in range(GPUS):
            os.mknod(self.folder / f"gpu{gpu}", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (self.folder / "gres.conf").write_text(
            f"NodeName=n[1-2] Name=gpu File={self.folder}/gpu[0-{GPUS - 1}]\n"
        )
        (self.folder / "slurm.conf").write_text(
            _CONFIGURATION.format(
                folder=self.folder, host=socket.gethostname().partition(".")[0],
                ports=_free_ports(3), gpus=GPUS, first_job=random.randrange(1, 10**7),
            )
        )  # fmt: skip

    def _start_all(self) -> None:
        files = (
            f"--{kind}-file={self.folder}/munge.{kind}" for kind in ("key", "seed", "pid", "log")
        )
        munge_socket = self.folder / "munge.socket"
        self._start("munged", "--foreground", "--force", f"--socket={munge_socket}", *files)
        wait_until(munge_socket.exists, 20, "munged starts", self.logs)
        self._start("slurmctld", "-D")
        for node in NODES:
            self.start_node(node)
        wait_until(lambda: self._idle() == len(NODES), 60, "both nodes are idle", self.logs)

    def _start(self, *command: str, name: str | None = None) -> None:
        name = name or command[0]
        self._daemons[name] = ContainedProcess(
            command, self.environment, self.folder / f"{name}.output.log"
        )

    def _idle(self) -> int:
        states = subprocess.run(
            ["sinfo", "--noheader", "--Node", "--format=%T"],
            env=self.environment, capture_output=True, text=True,
        )  # fmt: skip
        return states.stdout.split().count("idle")


class Job:
    """A submitted job.

    Parameters
    ----------
    cluster
        Where it was submitted.
    number : int
        Its id.
    folder
        Where it was submitted from.
    """

    def __init__(self, cluster: LocalSlurm, number: int, folder: Path) -> None:
        self.cluster = cluster
        self.number = number
        self.folder = folder

    def fields(self, name: str) -> list[str]:
        """Return what ``scontrol show job`` says of each of its tasks, if it is an array."""
        shown = self.cluster.run("scontrol", "--oneliner", "show", "job", str(self.number))
        return re.findall(rf"(?:^| ){name}=(\S*)", shown, re.MULTILINE)

    def field(self, name: str) -> str:
        """Return what ``scontrol show job`` says of it, such as its ``ExitCode``."""
        return self.fields(name)[0]

    @property
    def state(self) -> str:
        """RUNNING, PENDING, COMPLETED, FAILED, CANCELLED or another."""
        return self.field("JobState")

    @property
    def ended(self) -> bool:
        """Whether all of it has ended for good."""
        return all(state in ENDED for state in self.fields("JobState"))

    @property
    def restarts(self) -> int:
        """How often it was put into the queue again."""
        return int(self.field("Restarts"))

    def output(self) -> str:
        """Return what it has printed, one task after the other."""
        paths = map(Path, self.fields("StdOut"))
        return "".join(path.read_text() for path in paths if path.exists())

    def signal(self, name: str) -> None:
        """Signal the ranks, as Slurm does before the time limit."""
        self.cluster.run("scancel", f"--signal={name}", str(self.number))

    def wait(self, condition: Callable[[], bool], what: str, limit: float = 90) -> None:
        """Wait for a condition that must come true while the job is not at its end."""

        def ended_or_true() -> bool:
            return condition() or self.ended

        wait_until(ended_or_true, limit, what, self.report)
        assert condition(), f"{what}: no\n{self.report()}"

    def end(self, limit: float = 300) -> str:
        """Wait until it has ended; return its last state."""
        wait_until(lambda: self.ended, limit, "the job ends", self.report)
        return self.state

    def report(self) -> str:
        """Return all there is to know when something went wrong."""
        states = " ".join(self.fields("JobState"))
        return f"{states}\n{self.output()}\n{self.cluster.logs()}"


def wait_until(
    condition: Callable[[], bool], limit: float, what: str, report: Callable[[], str] = str
) -> None:
    """Poll a condition until it holds; fail after `limit` seconds."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"not within {limit} s: {what}\n{report()}"
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
