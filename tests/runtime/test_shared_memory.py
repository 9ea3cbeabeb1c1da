import json

import pytest


def test_each_of_several_nodes_has_a_copy(run_ranks, tmp_path):
    script = tmp_path / "share.py"
    script.write_text(
        "import json\n"
        "import numpy as np\n"
        "from ogg_hpc.runtime.launch import start\n"
        "from ogg_hpc.runtime.shared_memory import NodeArrays\n"
        "comm = start(device='cpu')\n"
        "array = np.arange(5000.0) if comm.rank == 0 else None\n"
        "shared = NodeArrays(comm, {'array': array}, 'none')\n"
        "same = bool((shared['array'] == np.arange(5000.0)).all())\n"
        "found = comm.gather_objects((comm.local_size, same))\n"
        "comm.on_root(lambda: print(json.dumps(found)))\n"
        "shared.free()\n"
    )
    # MPICH then takes even and odd ranks of one host for ranks of two.
    job = run_ranks(4, [script], variables={"MPIR_CVAR_ODD_EVEN_CLIQUES": "1"})
    assert job.returncode == 0, job.stderr
    found = json.loads(job.stdout.splitlines()[-1])
    assert all(same for _, same in found)
    if found[0][0] != 2:
        pytest.skip("needs MPICH, which can make believe that there are two nodes")
