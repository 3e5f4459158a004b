"""What a command line leaves unloaded must be missed by nobody."""

from __future__ import annotations

import subprocess
import sys

SPARED = "from satchel.serving.lean import spare_modules; spare_modules(); import sys, numpy"


def run(code: str, before: str = SPARED) -> str:
    command = [sys.executable, "-c", f"{before}\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_docstrings_and_types_of_numpy_stay_unloaded() -> None:
    loaded = (
        "print([name for name in sys.modules if name.startswith(('numpy._typing.', 'numpy._core._add'))])"
    )
    assert run(loaded) == "['numpy._core._add_newdocs', 'numpy._core._add_newdocs_scalars']"
    assert run("print(numpy.ndarray.sort.__doc__, numpy.arange(3).sum())") == "None 3"


def test_who_needs_the_types_of_numpy_gets_the_real_ones() -> None:
    code = "from numpy.typing import ArrayLike, NDArray; print(NDArray[numpy.int8]); print(ArrayLike)"
    assert run(code) == run(code, before="import numpy") != ""


def test_what_was_loaded_before_stays() -> None:
    code = "spare_modules(); spare_modules(); print(sys.modules['numpy._typing'].__spec__ is not None)"
    assert run(code, before="import sys, numpy; from satchel.serving.lean import spare_modules") == "True"


def test_nothing_is_in_place_before_it_is_needed() -> None:
    code = "print([name for name in sys.modules if name.startswith('numpy')])"
    assert (
        run(code, before="from satchel.serving.lean import spare_modules; spare_modules(); import sys")
        == "[]"
    )
