"""Everything on a fresh machine that has Python 3.11 or newer, git and a package index.

python3 dev.py try [FOLDER]    make the environment, index a folder (default: this one), ask it a question
python3 dev.py test [ARGS…]    make the environment, then lint, format, types and tests; ARGS go to pytest
python3 dev.py docs            make the environment, then build the site of the documents into build/site
python3 dev.py lock            write requirements.lock anew from pyproject.toml
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".venv"
LOCK = HERE / "requirements.lock"
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
CHECKED = ("src", "tests", "benchmarks", "dev.py", "mkdocs_hooks.py")
SITE = HERE / "build" / "site"
# Tests wait for processes and servers, so a third worker keeps two cores busy. Each begins with a third of
# the files and takes from others when it is done, so that most fixtures of a file are made once.
SIDE_BY_SIDE = ("-n", "3", "--dist", "worksteal")


def main(arguments: list[str]) -> int:
    """Run one of the commands above and return its exit code."""
    if sys.version_info < (3, 11):
        print(f"Satchel needs Python 3.11 or newer, this is {sys.version.split()[0]}", file=sys.stderr)
        return 2
    command, *rest = arguments or ["--help"]
    try:
        if command == "try":
            folder = Path(rest[0] if rest else HERE)
            if not folder.is_dir():
                print(f"{rest[0]!r} is not a folder", file=sys.stderr)
                return 2
            make_environment()
            return try_it(folder)
        if command == "test":
            make_environment()
            return test(rest)
        if command == "docs":
            make_environment()
            return docs()
        if command == "lock":
            return lock()
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on where it was", file=sys.stderr)
        return 130
    except subprocess.CalledProcessError as error:
        print(
            f"this failed with exit code {error.returncode}: {' '.join(map(str, error.cmd))}", file=sys.stderr
        )
        return 1
    print(__doc__)
    return 0 if command in ("-h", "--help") else 2


def make_environment() -> None:
    """Make the environment that the lock file describes, once, and again when the lock changes."""
    wanted = hashlib.sha256(LOCK.read_bytes() + (HERE / "pyproject.toml").read_bytes()).hexdigest()
    stamp = ENVIRONMENT / "lock.sha256"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    if not any(BIN.glob("pip*")):  # the last thing that is put into a new environment
        print("making .venv …", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [str(BIN / python_name()), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    install_locked([*pip, "--require-hashes", "-r", str(LOCK)])
    print("installing Satchel itself …", flush=True)
    subprocess.run([*pip, "--quiet", "--no-deps", "--no-build-isolation", "-e", "."], check=True, cwd=HERE)
    stamp.write_text(wanted)


def install_locked(command: list[str]) -> None:
    """Install the packages of the lock, and name each as it comes: the first time takes a minute or two."""
    total = sum("==" in line for line in LOCK.read_text().splitlines() if not line.startswith(" "))
    print(f"installing up to {total} packages into .venv …", flush=True)
    said: list[str] = []
    count, drawn = 0, sys.stdout.isatty()  # a log keeps no line that is drawn anew
    pipe, merged = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, cwd=HERE, stdout=pipe, stderr=merged, text=True) as process:
        for line in process.stdout or ():
            said.append(line)
            if drawn and line.startswith("Collecting "):
                count += 1
                name = line.split()[1].partition("==")[0]
                print(f"\r  {count}/{total} {name:<40}", end="", flush=True)
            elif line.startswith("Installing collected packages"):
                print("\r  all packages are here; putting them in place …", flush=True)
    if process.returncode:
        print("\n" + "".join(said[-SAID_ON_FAILURE:]), file=sys.stderr)
        raise subprocess.CalledProcessError(process.returncode, command)


SAID_ON_FAILURE = 15  # lines of pip, the last of which say what is wrong
QUESTION = "how are secrets kept out"  # of this repository


def try_it(folder: Path) -> int:
    """Do the main job: index a folder, show its map, and pack the answer to a question."""
    satchel = str(BIN / "satchel")
    if code := run_shown(satchel, ["index"], folder):
        return code
    # This file has the words of the question.
    pack = ["pack", QUESTION, "--exclude", "dev.py"]
    if folder.resolve() != HERE:
        pack = ["pack", question_about(satchel, folder)]
    for words in (["map", "--budget-tokens", "250"], [*pack, "--budget-tokens", "1000"]):
        if code := run_shown(satchel, words, folder):
            return code
    print(NEXT.format(satchel=shlex.quote(satchel), folder=shlex.quote(str(folder))))
    return 0


def run_shown(satchel: str, words: list[str], folder: Path) -> int:
    """Print a command line, run it on a folder, and return its exit code."""
    print(f"\n$ satchel {shlex.join([*words, '--segment', str(folder)])}", flush=True)
    return subprocess.run([satchel, *words, "--segment", str(folder)], check=False).returncode


def question_about(satchel: str, folder: Path) -> str:
    """Return a question that a folder has an answer to: how its most used definition works."""
    command = [satchel, "map", "--budget-tokens", "250", "--json", "--segment", str(folder)]
    found = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    names = [item["name"] for item in json.loads(found or "{}").get("symbols", [])]
    return f"how does {names[0]} work" if names else "where does this program start"


NEXT = """
What to type next:
  {satchel} pack "your own question" --segment {folder}
  {satchel} search SomeName --segment {folder}
  {satchel} install       link it to the agent clients of this machine
  {satchel} --help        every command, by what it is for"""


def test(arguments: list[str]) -> int:
    """Run lint, format, types and tests, all of which must pass."""
    python = str(BIN / python_name())
    steps = [
        [python, "-m", "ruff", "check", "--quiet", *CHECKED],
        [python, "-m", "ruff", "format", "--check", "--quiet", *CHECKED],
        [python, "-m", "mypy"],
        [python, "-m", "pytest", *SIDE_BY_SIDE, *arguments],
    ]
    for step in steps:
        print("$", " ".join(step[1:]), flush=True)
        code = subprocess.run(step, check=False, cwd=HERE).returncode
        if code:
            return code
    return 0


def docs() -> int:
    """Build the site of the documents. It is read by opening a file: no server and no network are needed."""
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # the theme's news of its successor
    # Not quiet: mkdocs then counts no warnings, and a broken link would pass.
    command = [str(BIN / python_name()), "-m", "mkdocs", "build", "--clean"]
    code = subprocess.run(command, check=False, cwd=HERE, env=variables).returncode
    if not code:
        print(f"open {SITE / 'index.html'}")
    return code


def lock() -> int:
    """Write all versions and hashes for all platforms. This needs uv, which nothing else here does."""
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
