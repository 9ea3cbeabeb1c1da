"""A stub of LSF and its job step manager: `bsub` and `jsrun` without a scheduler and without nodes.

LSF cannot be had for tests. What stands here checks the options that the jobscripts give against
their documented grammar and against a node of Summit's shape, and then runs the ranks of a step for
real by mpiexec, on this machine. The limit of a job is an event that the test chooses.

Sources: IBM Spectrum LSF 10.1 command reference (bsub), IBM Job Step Manager (jsrun, the format of
explicit resource files).

Run as ``lsf_stub.py bsub OPTION...`` or ``lsf_stub.py jsrun OPTION... COMMAND``. Variables:

STUB_LOG
    File to which every command line of jsrun is added.
STUB_DRY
    Check and log steps, but start no ranks.
STUB_WARN
    Whom the warning before the limit reaches: all processes of the job (``job``), or its script.
STUB_WARN_WHEN
    The warning comes once this file exists and all ranks catch its signal, to the first part of the
    job alone.
"""

import ctypes
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORES, THREADS, GPUS = 42, 4, 6  # of a node
JOB = "4711"
MOST_PARTS = 9

TIME = r"(\d+:)?\d+"
NUMBER = r"[1-9]\d*"
BSUB_OPTIONS = {
    "-J": r"[\w.-]+(\[1-[1-9]\d*\])?",
    "-P": r"\w+",
    "-Q": r"\d+( \d+)*",
    "-W": TIME,
    "-nnodes": NUMBER,
    "-e": r"\S+",
    "-o": r"\S+",
    "-q": r"\w+",
    "-wa": r"(SIG)?(INT|TERM|URG|USR1|USR2)",
    "-wt": TIME,
}
BSUB_FLAGS = ("-r",)
JSRUN_OPTIONS = {
    "--nrs": NUMBER,
    "--rs_per_host": NUMBER,
    "--tasks_per_rs": NUMBER,
    "--cpu_per_rs": NUMBER,
    "--gpu_per_rs": r"\d+",
    "--bind": r"none|rs|packed:[1-9]\d*",
    "--launch_distribution": r"packed|cyclic|plane:[1-9]\d*",
    "--env": r"\w+=.*",
    "--smpiargs": r".+",
    "--erf_input": r".+",
}
JSRUN_SHORT = {
    "-n": "--nrs",
    "-r": "--rs_per_host",
    "-a": "--tasks_per_rs",
    "-c": "--cpu_per_rs",
    "-g": "--gpu_per_rs",
    "-b": "--bind",
    "-d": "--launch_distribution",
    "-E": "--env",
    "-M": "--smpiargs",
}
ERF_RANK = re.compile(
    r"rank: (\d+): \{ host: (\d+); cpu: \{(\d+)-(\d+)\}(?:; gpu: \{(\d+(?:,\d+)*)\})? \}"
)


def refuse(message):
    """End as the command would that does not understand its options."""
    sys.exit(f"lsf_stub: {message}")


def die_with_parent():
    """Ask Linux to end this process with its parent: a test that gives up leaves nothing behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def checked(options, name, value):
    """Return the value of an option if it can have it."""
    if name not in options:
        refuse(f"unknown option {name}")
    if not re.fullmatch(options[name], value):
        refuse(f"option {name} cannot be {value!r}")
    return value


# bsub


def bsub(arguments):
    """Run a job to its end, as ``bsub -K`` does, in as many parts as it asks for."""
    die_with_parent()
    options, command = _bsub_options(arguments)
    if command:  # options in the file are not read: LSB_BSUB_PARSE_SCRIPT is off by default
        options = {"-nnodes": "1", **options}
    else:
        text = sys.stdin.read()
        lines = [line[5:] for line in text.splitlines() if line.startswith("#BSUB")]
        own, rest = _bsub_options(shlex.split(" ".join(lines), comments=True))
        if rest:
            refuse(f"#BSUB lines with more than options: {rest}")
        options = {**own, **options}
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as spooled:
            spooled.write(text)
        command = ["bash", spooled.name]
    if ("-wa" in options) != ("-wt" in options):
        refuse("-wa and -wt have an effect only together")
    if "-wt" in options and not _minutes(options["-wt"]) < _minutes(options["-W"]):
        refuse("the warning would come before the job has begun")
    size = re.search(r"\[1-(\d+)\]", options.get("-J", ""))
    print(f"Job <{JOB}> is submitted to the stub.", flush=True)
    elements = range(1, int(size[1]) + 1) if size else [0]
    return max([_element(options, command, element, len(elements)) for element in elements])


def _bsub_options(tokens):
    options, tokens = {}, list(tokens)
    while tokens and tokens[0].startswith("-"):
        name = tokens.pop(0)
        if name in BSUB_FLAGS:
            options[name] = ""
        elif not tokens:
            refuse(f"option {name} needs a value")
        else:
            options[name] = checked(BSUB_OPTIONS, name, tokens.pop(0))
    return options, tokens


def _minutes(text):
    hours, _, minutes = text.rpartition(":")
    return 60 * int(hours or 0) + int(minutes)


def _element(options, command, element, elements):
    nodes = int(options["-nnodes"])
    with tempfile.NamedTemporaryFile("w", suffix=".hosts", delete=False) as hosts:
        hosts.write("batch1\n" + "".join(f"node{n}\n" * CORES for n in range(1, nodes + 1)))
    environment = {**os.environ, "LSB_JOBID": JOB, "LSB_DJOB_HOSTFILE": hosts.name}
    environment |= {"LSB_JOBINDEX": str(element)}
    if element:
        environment |= {"LSB_JOBINDEX_END": str(elements)}
    output = options.get("-o", "%J.out").replace("%J", JOB).replace("%I", str(element))
    requeue = [int(code) for code in options.get("-Q", "").split()]
    for part in range(MOST_PARTS):
        with open(output, "ab") as out, open(options.get("-e", output), "ab") as errors:
            job = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                start_new_session=True, preexec_fn=die_with_parent,
            )  # fmt: skip
            if part == 0 and "-wa" in options:
                _warn(job, options["-wa"])
            code = job.wait()
        if code not in requeue:
            return code
    return refuse(f"still unfinished after {MOST_PARTS} parts")


def _warn(job, name):
    if "STUB_WARN" not in os.environ:
        return
    number = signal.Signals["SIG" + name.removeprefix("SIG")]
    events = (Path(os.environ["STUB_WARN_WHEN"]), _ready())
    while job.poll() is None and not all(event.exists() for event in events):
        time.sleep(0.02)
    (os.killpg if os.environ["STUB_WARN"] == "job" else os.kill)(job.pid, number)


def _ready():
    """Return the file that tells that all ranks of the step catch signals."""
    return Path(os.environ["STUB_LOG"]).with_suffix(".ready")


# jsrun


def jsrun(arguments):
    """Check a job step and run its ranks."""
    die_with_parent()
    options, variables, command = _jsrun_options(arguments)
    hosts = Path(os.environ["LSB_DJOB_HOSTFILE"]).read_text().split()
    nodes = len(set(hosts)) - 1
    threads = int(variables.get("OMP_NUM_THREADS", 1))
    if "--erf_input" in options:
        ranks = _explicit_ranks(Path(options["--erf_input"]), nodes, threads)
    else:
        ranks = _ranks(options, nodes, threads)
    with open(os.environ["STUB_LOG"], "a") as log:
        log.write(shlex.join(["jsrun", *arguments]) + "\n")
    if "STUB_DRY" in os.environ:
        return 0
    return _run(ranks, variables, command)


def _jsrun_options(tokens):
    options, variables, tokens = {}, {}, list(tokens)
    while tokens and tokens[0].startswith("-"):
        name, equals, value = tokens.pop(0).partition("=")
        if not name.startswith("--"):  # -n6 or -n 6
            value = name[2:] + equals + value
            name = JSRUN_SHORT.get(name[:2], name)
        if not value:
            value = tokens.pop(0)
        checked(JSRUN_OPTIONS, name, value)
        if name == "--env":
            variables.update([value.split("=", 1)])
        else:
            options[name] = value
    if not tokens:
        refuse("no command")
    return options, variables, tokens


def _ranks(options, nodes, threads):
    """Return the GPUs of each rank, in the order of the ranks."""
    sets, tasks, cores, gpus = (
        int(options.get(name, default))
        for name, default in (
            ("--nrs", 1), ("--tasks_per_rs", 1), ("--cpu_per_rs", 1), ("--gpu_per_rs", 0),
        )
    )  # fmt: skip
    fit = min(CORES // cores, GPUS // gpus if gpus else CORES)
    if not fit:
        refuse(f"a resource set of {cores} cores and {gpus} GPUs is larger than a node")
    per_host = int(options.get("--rs_per_host", fit))
    if per_host > fit:
        refuse(f"{per_host} resource sets of {cores} cores and {gpus} GPUs do not fit on a node")
    if sets > per_host * nodes:
        refuse(f"{sets} resource sets do not fit on {nodes} nodes at {per_host} a node")
    bind = options.get("--bind", "packed:1")
    if tasks > cores or (bind.startswith("packed:") and tasks * int(bind[7:]) > cores):
        refuse(f"{tasks} tasks bound by {bind} need more than {cores} cores")
    bound = {"rs": cores // tasks, "none": CORES}.get(bind) or int(bind[7:])
    if threads > bound:
        refuse(f"{threads} threads a task on {bound} cores")
    return [
        [number % per_host * gpus + gpu for gpu in range(gpus)]
        for number in range(sets)
        for _ in range(tasks)
    ]


def _explicit_ranks(path, nodes, threads):
    first, *lines = path.read_text().splitlines()
    if first != "cpu_index_using: logical":
        refuse(f"{path}: expected how processors are numbered, not {first!r}")
    ranks, taken = [], set()
    for number, line in enumerate(lines):
        found = ERF_RANK.fullmatch(line)
        if not found or int(found[1]) != number:
            refuse(f"{path}: not the line of rank {number}: {line!r}")
        host, low, high = (int(found[group]) for group in (2, 3, 4))
        gpus = [int(gpu) for gpu in (found[5] or "").split(",") if gpu]
        uses = {(host, "cpu", cpu) for cpu in range(low, high + 1)}
        uses |= {(host, "gpu", gpu) for gpu in gpus}
        if not 1 <= host <= nodes or high >= CORES * THREADS or any(gpu >= GPUS for gpu in gpus):
            refuse(f"{path}: rank {number} is not on the job's nodes: {line!r}")
        if uses & taken:
            refuse(f"{path}: rank {number} uses what another rank has: {line!r}")
        if threads * THREADS > high - low + 1:
            refuse(f"{path}: {threads} threads of rank {number} on fewer cores")
        taken |= uses
        ranks.append(gpus)
    return ranks


def _run(ranks, variables, command):
    """Run the ranks by mpiexec and hand signals on to them, as jsrun does to those of all nodes."""
    with tempfile.TemporaryDirectory() as folder:
        launcher = [Path(sys.executable).with_name("mpiexec"), "-n", str(len(ranks))]
        start = [sys.executable, __file__, "rank", folder, ":".join(map(str, map(len, ranks)))]
        step = subprocess.Popen(
            [*launcher, *start, *command], env={**os.environ, **variables},
            start_new_session=True, preexec_fn=die_with_parent,
        )  # fmt: skip

        def pids():
            return [int(file.name) for file in Path(folder).iterdir()]

        signal.signal(signal.SIGURG, lambda *_: [os.kill(pid, signal.SIGURG) for pid in pids()])
        while step.poll() is None and not _ready().exists():
            if len(pids()) == len(ranks) and all(map(_catches_urg, pids())):
                _ready().touch()
            time.sleep(0.02)
        code = step.wait()
        _ready().unlink(missing_ok=True)
        return code


def _catches_urg(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # has ended
        return False
    caught = int(re.search(r"SigCgt:\s*([0-9a-f]+)", status)[1], 16)
    return bool(caught >> (signal.SIGURG - 1) & 1)


def rank(arguments):
    """Become the command of one rank."""
    folder, counts, *command = arguments
    gpus = int(counts.split(":")[int(os.environ["PMI_RANK"])])
    # A test has no GPUs; it may want to see which ranks would have one.
    os.environ["STUB_GPUS"] = str(gpus)
    Path(folder, str(os.getpid())).touch()
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit({"bsub": bsub, "jsrun": jsrun, "rank": rank}[sys.argv[1]](sys.argv[2:]))
