"""Satchel installed into an empty environment, as a user installs it: what it weighs, and that it answers.

These tests download packages and take a minute, so they only run when asked for: `pytest -m installation`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

import pytest
from test_packaging import build

pytestmark = pytest.mark.installation
ROOT = Path(__file__).parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"

# numpy (57 MB) and tree-sitter with 27 grammars (47 MB) are four fifths of it; our own vocabularies, word vectors
# and code are 11, tiktoken with what it requires 9, chardet 4. Haskell, Scala, Swift, SQL, Elixir and Zig, whose uses
# no rules resolve, are 18 of the 47: without their grammars it would be 114.
MOST_MEGABYTES = 135
MOST_PACKAGES = 45
_TOOLS = {"pip", "setuptools", "wheel"}  # of the environment itself


class Environment(NamedTuple):
    """An environment of its own, a home without settings, and a project to ask about."""

    folder: Path
    home: Path
    project: Path

    def run(self, *words: str, code: int = 0, given: str = "") -> subprocess.CompletedProcess[str]:
        """The result of a program of the environment, which must end with `code`."""
        command = [str(self.folder / BIN / words[0]), *words[1:]]
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        variables = {**kept, "HOME": str(self.home), "PATH": f"{self.folder / BIN}{os.pathsep}{os.defpath}"}
        result = subprocess.run(
            command, cwd=self.project, env=variables, capture_output=True, text=True, input=given, timeout=300
        )
        assert result.returncode == code, result.stderr
        return result

    def packages(self) -> list[Distribution]:
        """What is installed besides the tools of every environment."""
        folders = [str(path) for path in self.folder.glob("lib/python*/site-packages")]
        found = distributions(path=folders or [str(self.folder / "Lib" / "site-packages")])
        return [package for package in found if package.name not in _TOOLS]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """The wheel alone, with the versions of the lock, and no extra."""
    place = tmp_path_factory.mktemp("core")
    (wheel,) = build(ROOT, place / "dist", "-t", "wheel")
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    (place / "versions.txt").write_text(
        "\n".join(line.removesuffix(" \\") for line in lines if re.match(r"[a-z0-9-]+==", line))
    )
    shutil.copytree(ROOT / "examples" / "shop", place / "shop", ignore=shutil.ignore_patterns("_ctx"))
    (place / "home").mkdir()
    venv.create(place / "venv", with_pip=True)
    made = Environment(place / "venv", place / "home", place / "shop")
    made.run("python", "-m", "pip", "install", "-q", "-c", str(place / "versions.txt"), str(wheel))
    yield made
    shutil.rmtree(place, ignore_errors=True)


def test_a_core_installation_is_small(core: Environment) -> None:
    packages = core.packages()
    sizes = {package.name: _megabytes(package) for package in packages}
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:12]
    print(
        f"\ncore installation: {len(packages)} packages, {sum(sizes.values()):.0f} MB without bytecode; largest: "
        + ", ".join(f"{name} {size:.1f}" for name, size in largest),
        file=sys.stderr,
    )
    assert len(packages) <= MOST_PACKAGES and sum(sizes.values()) <= MOST_MEGABYTES


def _megabytes(package: Distribution) -> float:
    """What the package's own files take; the bytecode that some installers add is not counted."""
    paths = [Path(str(file.locate())) for file in package.files or () if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def test_a_core_installation_answers(core: Environment) -> None:
    assert "7 parsed" in core.run("satchel", "index").stdout
    assert "shop/payment.py" in core.run("satchel", "search", "what happens when the bank is busy").stdout
    question = "how is a payment retried when the bank is busy"
    pack = core.run("satchel", "pack", question, "--budget-tokens", "300").stdout
    assert "of 300 o200k tokens" in pack and "## definitions" in pack
    code = "from satchel import Engine; e = Engine.open('.'); e.refresh(); print(e.search('tax')[0][0].path)"
    assert core.run("python", "-c", code).stdout.strip() == "shop/prices.py"


def test_a_type_checker_sees_the_types(core: Environment) -> None:
    code = "import satchel, pathlib; print((pathlib.Path(satchel.__file__).parent / 'py.typed').is_file())"
    assert core.run("python", "-c", code).stdout.strip() == "True"


def test_the_command_of_the_error_installs_what_is_missing(core: Environment) -> None:
    refused = core.run("satchel", "serve", "mcp", code=2)
    hint = refused.stderr.splitlines()[-1].strip()
    assert hint == "pip install 'satchel-context[mcp]'"
    program, *words = shlex.split(hint)
    core.run("python", "-m", program, *words, "-q", "-c", str(core.folder.parent / "versions.txt"))
    hello = (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        '"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\n'
    )
    assert '"serverInfo"' in core.run("satchel", "serve", "mcp", given=hello).stdout


def test_the_sdist_installs_and_answers(core: Environment) -> None:
    (sdist,) = build(ROOT, core.folder.parent / "sdist", "-t", "sdist")
    core.run("python", "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", str(sdist))
    assert "shop/prices.py" in core.run("satchel", "search", "tax").stdout


@pytest.mark.parametrize(
    "line", re.findall(r"^(?:uvx|pipx run) .*", (ROOT / "docs" / "tutorial.md").read_text(), re.M)
)
def test_a_line_of_the_tutorial_starts_it_without_an_installation(line: str, tmp_path: Path) -> None:
    program = shlex.split(line)[0]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    clone = tmp_path / "satchel"
    kept = shutil.ignore_patterns(".git", ".venv", "build", "_ctx", "benchmarks", "tests")
    shutil.copytree(ROOT, clone, ignore=kept)
    build(ROOT, clone / "dist", "-t", "wheel")
    result = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0 and result.stdout.startswith("satchel "), result.stderr
