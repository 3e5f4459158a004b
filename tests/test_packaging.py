"""Wheel and sdist hold what they should, and the wheel works without the source beside it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from builders import SHOP, make_tree

from satchel import __version__

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "satchel"


def build(project: Path, target: Path, *kinds: str) -> list[Path]:
    """The archives that the build backend makes of a project, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target), *kinds]
    subprocess.run(command, cwd=project, check=True, capture_output=True, timeout=120)
    return sorted(target.iterdir())


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    wheel, sdist = build(ROOT, tmp_path_factory.mktemp("dist"))
    return wheel, sdist


def files_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.startswith("satchel/")}


def test_the_wheel_holds_every_file_of_the_package(archives: tuple[Path, Path]) -> None:
    wheel, _ = archives
    assert wheel.name == f"satchel_context-{__version__}-py3-none-any.whl"
    expected = {
        f"satchel/{path.relative_to(SOURCE).as_posix()}": path.read_bytes()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files_of(wheel) == expected
    assert "satchel/py.typed" in expected and "satchel/embedding/words.bin" in expected


def test_a_wheel_built_from_the_sdist_is_the_same(archives: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, sdist = archives
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "sdist", filter="data")
    (unpacked,) = (tmp_path / "sdist").iterdir()
    (again,) = build(unpacked, tmp_path / "dist", "-t", "wheel")
    assert again.name == wheel.name and files_of(again) == files_of(wheel)
    for name in ("dev.py", "requirements.lock", "README.md", "tests/conftest.py", "examples/shop"):
        assert (unpacked / name).exists()


def test_the_wheel_answers_without_the_source_beside_it(archives: tuple[Path, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(archives[0]) as archive:
        archive.extractall(tmp_path / "wheel")
    root = make_tree(tmp_path / "shop", SHOP)
    (tmp_path / "home").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "wheel"), "HOME": str(tmp_path / "home")}

    def run(*words: str) -> str:
        command = [sys.executable, *words]
        result = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout

    where = run("-c", "import satchel; print(satchel.__file__)")
    assert Path(where.strip()).is_relative_to(tmp_path / "wheel")
    run("-m", "satchel", "index")
    assert "basket" in run("-m", "satchel", "search", "basket").lower()
    assert "## definitions" in run("-m", "satchel", "pack", "how is a basket filled", "--format", "context")


def test_the_metadata_of_the_wheel_says_what_it_needs(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[0]) as archive:
        name = f"satchel_context-{__version__}.dist-info/METADATA"
        metadata = Parser().parsestr(archive.read(name).decode())
        scripts = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert metadata["Name"] == "satchel-context" and metadata["Version"] == __version__
    extras = {"all", "grpc", "http", "huggingface", "library", "mcp", "oidc", "serve", "test"}
    assert set(metadata.get_all("Provides-Extra") or ()) == extras
    core = [line for line in metadata.get_all("Requires-Dist") or () if "extra ==" not in line]
    servers = ("grpcio", "mcp", "starlette", "uvicorn", "watchfiles", "tokenizers", "rich")
    assert not [line for line in core if line.startswith(servers)]
    start = ["=", "satchel.serving.cli:main"]
    assert scripts.split() == ["[console_scripts]", "satchel", *start, "satchel-context", *start]


def test_the_lock_names_no_machine() -> None:
    """Packages come from whatever index the reader's pip uses."""
    text = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"://|--(extra-)?index-url|--find-links|^satchel", text, re.MULTILINE)
    assert "--hash=sha256:" in text


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="not a clone")
def test_a_release_is_tagged_with_its_version() -> None:
    """A tag on this commit is the version of the code: `v0.2.0` on the commit whose _version.py says 0.2.0."""
    command = ["git", "tag", "--points-at", "HEAD", "--list", "v*"]
    tags = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert tags in ([], [f"v{__version__}"])


def test_the_changelog_has_an_unreleased_section_and_then_this_version() -> None:
    titles = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert titles[0] == "Unreleased" and titles[1].split()[0] == __version__
