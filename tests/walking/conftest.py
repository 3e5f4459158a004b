"""Builders of real folders and real git repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


@pytest.fixture(autouse=True)
def _no_outer_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes files given as path → text below `root` and returns `root`."""

    def build(files: dict[str, str | bytes], root: Path | None = None) -> Path:
        base = root or tmp_path / "project"
        base.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            target = base / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return base

    return build


@pytest.fixture
def owner_git() -> Callable[..., str]:
    """Runs git in a folder, as its owner would."""

    def run(root: Path, *args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=root, env=os.environ | _IDENTITY, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    return run


@pytest.fixture
def commit(owner_git: Callable[..., str]) -> Callable[..., str]:
    """Makes the folder a repository if it is none, commits all of it and returns the commit."""

    def build(root: Path, message: str = "x") -> str:
        if not (root / ".git").exists():
            owner_git(root, "init", "-q", "-b", "main")
        owner_git(root, "add", "-A", ".")
        owner_git(root, "commit", "-q", "--allow-empty", "-m", message)
        return owner_git(root, "rev-parse", "HEAD")

    return build
