"""Do users of older systems find what they know? Runs the tests of one, from a clone of its repository.

    python benchmarks/older_systems.py chunks CLONE      wyrmspire/agent: its tests of chunks and their search

Nothing of a clone is kept here: its files run unchanged, with our classes under the names they import.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

_TESTS = ("tests/store/test_chunks.py", "tests/tools/test_chunk_search.py")
_MODULES = {
    "store/chunks.py": "from satchel.serving.chunk_manager import ChunkManager, ChunkMetadata\n",
    "tool/chunk_search.py": "from satchel.serving.chunk_search_tool import ChunkSearchTool\n",
}
_PASSED = "✓ "


def main() -> int:
    """Run what is asked for; 1 if something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("chunks").add_argument("clone", type=Path)
    options = parser.parse_args()
    return run_chunk_tests(options.clone)


def run_chunk_tests(clone: Path) -> int:
    """Run each test file as its authors do, as a script, and print what it says."""
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in _MODULES.items():
            module = Path(folder) / name
            module.parent.mkdir()
            module.write_text(text)
        for name in _TESTS:
            command = [sys.executable, "-c", _run_with(folder, clone / name)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            passed += sum(line.startswith(_PASSED) for line in done.stdout.splitlines())
            failed += done.returncode != 0
            print(done.stdout + done.stderr)
    print(f"{passed} tests passed, {failed} of {len(_TESTS)} files failed")
    return int(bool(failed))


def _run_with(folder: str, script: Path) -> str:
    """A program that runs a script with our modules in place of those beside it."""
    start = f"import runpy, sys; sys.path.insert(0, {folder!r})"
    return f"{start}; runpy.run_path({str(script)!r}, run_name='__main__')"


if __name__ == "__main__":
    sys.exit(main())
