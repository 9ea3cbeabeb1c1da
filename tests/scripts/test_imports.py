"""Scripts and benchmarks keep up with the package that they call."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import runpy, sys
for path in sys.argv[1:]:
    sys.path.insert(0, path.rpartition("/")[0])
    runpy.run_path(path, run_name="imported")
    print(path)
"""


def test_every_script_finds_what_it_imports():
    files = sorted(
        str(path) for name in ("scripts", "benchmarks") for path in (ROOT / name).glob("*.py")
    )
    command = [sys.executable, "-c", PROGRAM, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == files
