"""Each adapter, absent its package, says which extra brings it."""

import subprocess
import sys

import pytest

EXTRAS = {"sklearn": "sklearn", "river": "river", "torch": "torch"}


@pytest.mark.parametrize("package", EXTRAS)
def test_an_absent_package_is_named_with_the_extra_that_brings_it(package):
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from osp_core import MissingDependencyError\n"
        "try:\n"
        f"    import osp_core.adapters.{package}\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"online-structured-prediction[{EXTRAS[package]}]" in run.stdout


def test_no_part_of_the_core_imports_an_adapter():
    program = (
        "import sys, osp_core, osp_core.cli\n"
        "print([name for name in sys.modules if name.startswith('osp_core.adapters')])\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
