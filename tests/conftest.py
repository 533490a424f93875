"""What all tests share: profiles of Hypothesis, a seeded generator, and what is collected."""

import importlib.util
import inspect
import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

# Small matrices gain nothing from the threads of BLAS, and workers that share two cores lose to them.
# BLAS reads this when numpy is imported, so nothing above may import numpy. Child processes inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A file whose name ends like this needs that package: what is not installed is not collected, never skipped.
NEEDS = {
    "vs_cvxpy": "cvxpy",
    "cvxpy": "cvxpy",
    "highs": "highspy",
    "networkx": "networkx",
    "numba": "numba",
    "matplotlib": "matplotlib",
    "rich": "rich",
    "sklearn": "sklearn",
    "torch": "torch",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "river": "river",
    "joblib": "joblib",
    "distributed": "distributed",
    "filelock": "filelock",
}

collect_ignore_glob = [
    f"*_{suffix}.py" for suffix, package in NEEDS.items() if importlib.util.find_spec(package) is None
]

if not any(importlib.util.find_spec(library) for library in ("pandas", "polars")):
    collect_ignore_glob.append("*test_frames_sklearn.py")

if shutil.which("chromium") is None:
    collect_ignore_glob.append("*_chromium.py")

settings.register_profile(
    "quick", max_examples=25, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "soak", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    import numpy as np

    return np.random.default_rng(20240613)


@pytest.fixture
def osp_command():
    """The command `osp`, called in this process: its exit code, its output and its standard error."""
    from click.testing import CliRunner

    from osp_core.cli import main

    # click 8.1 mixes standard error into the output unless told not to; later versions never do.
    keep_apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    runner = CliRunner(**keep_apart)
    return lambda *arguments, **options: runner.invoke(main, arguments, **options)
