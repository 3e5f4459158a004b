"""Everything on a fresh machine that has Python 3.11 or newer, git and a package index.

python3 dev.py try [FOLDER]    make the environment, index a folder (default: this one), ask it a question
python3 dev.py test [ARGS…]    make the environment, then lint, format, types and tests; ARGS go to pytest
python3 dev.py lock            write requirements.lock anew from pyproject.toml
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".venv"
LOCK = HERE / "requirements.lock"
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
CHECKED = ("src", "tests", "benchmarks", "dev.py")


def main(arguments: list[str]) -> int:
    """Run one of the commands above."""
    if sys.version_info < (3, 11):
        print(f"Satchel needs Python 3.11 or newer, this is {sys.version.split()[0]}", file=sys.stderr)
        return 2
    command, *rest = arguments or ["--help"]
    if command == "try":
        make_environment()
        return try_it(rest[0] if rest else str(HERE))
    if command == "test":
        make_environment()
        return test(rest)
    if command == "lock":
        return lock()
    print(__doc__)
    return 0 if command in ("-h", "--help") else 2


def make_environment() -> None:
    """The environment that the lock file describes, made once and remade when the lock changes."""
    wanted = hashlib.sha256(LOCK.read_bytes() + (HERE / "pyproject.toml").read_bytes()).hexdigest()
    stamp = ENVIRONMENT / "lock.sha256"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    if not (BIN / python_name()).exists():
        print("making .venv …", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [str(BIN / python_name()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", str(LOCK)], check=True, cwd=HERE)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", "."], check=True, cwd=HERE)
    stamp.write_text(wanted)


def try_it(folder: str) -> int:
    """The main job: index a folder, then ask it something."""
    satchel = str(BIN / "satchel")
    question = ["search", "how are secrets kept out", "-k", "3", "--exclude", "dev.py"]
    for words in (["index"], ["map", "--budget-tokens", "250"], question):
        print(f"\n$ satchel {' '.join(words)} --segment {folder}", flush=True)
        code = subprocess.run([satchel, *words, "--segment", folder], check=False).returncode
        if code:
            return code
    return 0


def test(arguments: list[str]) -> int:
    """Lint, format, types, tests: all must pass."""
    python = str(BIN / python_name())
    steps = [
        [python, "-m", "ruff", "check", "--quiet", *CHECKED],
        [python, "-m", "ruff", "format", "--check", "--quiet", *CHECKED],
        [python, "-m", "mypy"],
        [python, "-m", "pytest", "-n", "2", *arguments],
    ]
    for step in steps:
        print("$", " ".join(step[1:]), flush=True)
        code = subprocess.run(step, check=False, cwd=HERE).returncode
        if code:
            return code
    return 0


def lock() -> int:
    """All versions and hashes for all platforms. Needs uv, which nothing else here does."""
    command = [
        "uv",
        "pip",
        "compile",
        "pyproject.toml",
        "--extra",
        "test",
        "--universal",
        "--generate-hashes",
    ]
    options = ["--no-header", "--no-annotate", "--python-version", "3.11", "--upgrade", "-o", str(LOCK)]
    return subprocess.run([*command, *options], check=False, cwd=HERE).returncode


def python_name() -> str:
    return "python.exe" if os.name == "nt" else "python"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
