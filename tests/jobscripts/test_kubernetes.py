"""The manifest is what the API of Kubeflow's MPI operator (v2beta1) and Kubernetes take."""

import re
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "jobscripts" / "kubernetes"
VOLUME, JOB = yaml.safe_load_all((FOLDER / "train.yaml").read_text())

# From the schema that the operator installs (its custom resource definition).
SPEC = {
    "launcherCreationPolicy": ("AtStartup", "WaitForWorkersReady"),
    "mpiImplementation": ("OpenMPI", "Intel", "MPICH"),
    "mpiReplicaSpecs": dict,
    "runLauncherAsWorker": bool,
    "runPolicy": dict,
    "slotsPerWorker": int,
    "sshAuthMountPath": str,
}
RUN_POLICY = {
    "activeDeadlineSeconds": int,
    "backoffLimit": int,
    "cleanPodPolicy": ("None", "Running", "All"),
    "managedBy": str,
    "schedulingPolicy": dict,
    "suspend": bool,
    "ttlSecondsAfterFinished": int,
}
REPLICAS = {
    "replicas": int,
    "restartPolicy": ("Never", "OnFailure"),
    "template": dict,
}


def check(fields, schema):
    for name, value in fields.items():
        allowed = schema[name]  # a name that the schema lacks would be dropped without a word
        assert value in allowed if isinstance(allowed, tuple) else type(value) is allowed, name


def test_job_has_the_fields_of_the_schema():
    assert (JOB["apiVersion"], JOB["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
    assert set(JOB) == {"apiVersion", "kind", "metadata", "spec"}
    check(JOB["spec"], SPEC)
    check(JOB["spec"]["runPolicy"], RUN_POLICY)
    assert set(JOB["spec"]["mpiReplicaSpecs"]) == {"Launcher", "Worker"}
    for replicas in JOB["spec"]["mpiReplicaSpecs"].values():
        check(replicas, REPLICAS)


@pytest.mark.parametrize("role", ["Launcher", "Worker"])
def test_pods_mount_the_volume_of_the_runs(role):
    pod = JOB["spec"]["mpiReplicaSpecs"][role]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"]
    assert container["command"]
    claims = {v["name"]: v["persistentVolumeClaim"]["claimName"] for v in pod["volumes"]}
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    assert claims == {"runs": VOLUME["metadata"]["name"]}
    assert mounts == {"runs": "/runs"}
    assert VOLUME["spec"]["accessModes"] == ["ReadWriteMany"]


def test_there_are_as_many_ranks_as_gpus():
    spec = JOB["spec"]
    worker = spec["mpiReplicaSpecs"]["Worker"]
    (container,) = worker["template"]["spec"]["containers"]
    (launcher,) = spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
    ranks = worker["replicas"] * spec["slotsPerWorker"]
    assert launcher["command"] == ["mpiexec", "-n", str(ranks), "ogg-hpc"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == spec["slotsPerWorker"]


def test_image_and_job_agree_about_user_port_and_key():
    dockerfile = (FOLDER / "Dockerfile").read_text()
    worker = JOB["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    (container,) = worker["containers"]
    port = container["readinessProbe"]["tcpSocket"]["port"]
    assert dockerfile.count(f"Port {port}'") == 2  # of the server and of the client
    assert f"HostKey {JOB['spec']['sshAuthMountPath']}/id_rsa" in dockerfile
    assert f"--uid {worker['securityContext']['runAsUser']} mpi" in dockerfile
    assert f"> {container['command'][-1]}\n" in dockerfile
    assert f"WORKDIR {container['volumeMounts'][0]['mountPath']}\n" in dockerfile
    assert re.search(r"^USER mpi$", dockerfile, re.MULTILINE)
