"""The real filelock, where there is no fcntl."""

import subprocess
import sys

import filelock  # noqa: F401 - while there is an fcntl: it asks for the locks of its system when imported
import pytest

import osp_core as osp
from osp_core.persistence import atomic as files

HOLDER = """
import sys, pathlib, filelock
sys.modules["fcntl"] = None
from osp_core.persistence.atomic import lock
release = lock(pathlib.Path(sys.argv[1]))
print("held" if release else "not held", flush=True)
sys.stdin.read()
"""


def test_filelock_keeps_a_second_process_out_until_the_first_is_gone(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], **pipes) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(osp.InvalidInputError, match="in use by another run"), files.sole_use(tmp_path):
            pass
        holder.kill()
    with files.sole_use(tmp_path):
        assert files.lock(tmp_path) is None
