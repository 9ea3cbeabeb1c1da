"""Recipes of images name what there is, and an image can take the MPI of its host."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "jobscripts" / "containers" / "ogg-hpc.def"
DOCKERFILE = ROOT / "jobscripts" / "kubernetes" / "Dockerfile"


def sections():
    """Return the sections of the Apptainer recipe by their names."""
    parts = re.split(r"^%(\w+)\n", RECIPE.read_text(), flags=re.MULTILINE)
    return {"header": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def test_recipe_has_the_sections_of_its_format():
    recipe = sections()
    assert recipe.keys() <= {
        "header", "arguments", "files", "post", "environment", "runscript", "test", "labels", "help"
    }  # fmt: skip
    header = dict(
        line.split(": ") for line in recipe["header"].splitlines() if re.match(r"\w+: ", line)
    )
    assert header == {"Bootstrap": "docker", "From": "debian:bookworm-slim"}
    wanted = set(re.findall(r"\{\{ (\w+) \}\}", recipe["post"]))
    assert wanted == {line.strip().partition("=")[0] for line in recipe["arguments"].split()}


@pytest.mark.parametrize("name", ["post", "environment", "runscript", "test"])
def test_scripts_of_the_recipe_pass_shellcheck(name):
    text = "#!/bin/sh\n" + sections()[name]
    shellcheck = [Path(sys.executable).with_name("shellcheck"), "--exclude=SC1083", "-"]
    found = subprocess.run(shellcheck, input=text, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_images_are_made_from_files_extras_and_constraints_that_exist():
    recipe, dockerfile = sections(), DOCKERFILE.read_text()
    copied = [line.split()[0] for line in recipe["files"].splitlines() if line.strip()]
    for line in re.findall(r"^COPY (.*)$", dockerfile, re.MULTILINE):
        copied += shlex.split(line)[:-1]
    assert all((ROOT / name).exists() for name in copied)
    # What setup.py reads, and what it installs.
    assert {"setup.py", "pyproject.toml", "README.md", "LICENSE", "ogg_hpc"} <= set(copied)
    extras = re.findall(r"\[([\w,]+)\]'", dockerfile) + re.findall(
        r"EXTRAS=([\w,]+)", RECIPE.read_text()
    )
    known = extras_of_setup()
    assert len(extras) == 3
    assert all(set(extra.split(",")) <= known for extra in extras)
    constraints = re.findall(r"CONSTRAINTS=(\w+)", RECIPE.read_text())
    assert all((ROOT / "constraints" / f"{name}.txt").exists() for name in constraints)


def extras_of_setup():
    """Return the extras of setup.py, which is read without being obeyed."""
    import setuptools

    kept = setuptools.setup
    setuptools.setup = lambda **metadata: None
    try:
        return set(runpy.run_path(str(ROOT / "setup.py"))["EXTRAS"])
    finally:
        setuptools.setup = kept


def test_mpi4py_takes_the_library_that_it_is_told(mpiexec, tmp_path, clean_environment):
    own = Path(mpiexec).parents[1] / "lib" / "libmpi.so.12"
    if not own.exists():
        pytest.skip("needs the MPICH of PyPI")
    host = tmp_path / own.name
    shutil.copy(own, host)
    (fabric,) = own.parent.rglob("libfabric.so.1")
    code = "from mpi4py import MPI; print(open('/proc/self/maps').read())"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
        env={
            **clean_environment, "MPI4PY_LIBMPI": str(host), "LD_LIBRARY_PATH": str(fabric.parent),
        },
    )  # fmt: skip
    loaded = {line.split()[-1] for line in run.stdout.splitlines() if "libmpi.so" in line}
    assert loaded == {os.path.realpath(host)}, run.stderr
