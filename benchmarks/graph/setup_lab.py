"""How are the clones and the tools of the oracles put in place? Every step is left out where it is done."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Iterable
from pathlib import Path

from graph.repositories import Lab, Repository

_NODE_TOOLS = ("pyright@1", "ts5@npm:typescript@5.9", "pnpm@10")  # typescript 7 has no JavaScript interface
_LIBRARIES = Path(__file__).parent / "python_libraries.txt"
_BY_SYSTEM = {
    "python": ("node", "npm"),
    "typescript": ("node", "npm"),
    "go": (),
    "c": ("clangd-19",),
    "cpp": ("clangd-19",),
}


def set_up(lab: Lab, repositories: Iterable[Repository], origin: str) -> list[str]:
    """Make the lab ready for repositories and return what is left to do by hand.

    `origin` says where a repository is cloned from: a URL or a path with `{owner}` and `{name}` in it.
    """
    chosen = list(repositories)
    languages = {repository.language for repository in chosen}
    for repository in chosen:
        _clone(lab, repository, origin)
    if languages & {"python", "typescript"}:
        _install_node_tools(lab)
    if languages & {"python", "go"}:
        _install_environment(lab)
    for repository in chosen:
        if repository.language == "typescript":
            _install_node_modules(lab, repository)
    needed = sorted({tool for language in languages for tool in _BY_SYSTEM[language]})
    notes = [f"{tool} is not installed" for tool in needed if not shutil.which(tool)]
    if "go" in languages:
        notes.append("Go libraries are read from Debian's golang-*-dev packages; one left out is empty")
    return notes


def _clone(lab: Lab, repository: Repository, origin: str) -> None:
    target = lab.clone(repository)
    if not target.exists():
        source = origin.format(owner=repository.owner, name=repository.name)
        subprocess.run(["git", "clone", "--quiet", source, str(target)], check=True)


def _install_node_tools(lab: Lab) -> None:
    if (lab.tools / "node_modules" / "pyright").is_dir():
        return
    lab.tools.mkdir(parents=True, exist_ok=True)
    (lab.tools / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    command = ["npm", "install", "--no-audit", "--no-fund", *_NODE_TOOLS]
    subprocess.run(command, check=True, cwd=lab.tools)


def _install_environment(lab: Lab) -> None:
    folder = lab.tools / "venv"
    if (folder / "bin" / "go").exists():
        return
    venv.create(folder, with_pip=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "-r", str(_LIBRARIES)]
    subprocess.run(command, check=True)


def _install_node_modules(lab: Lab, repository: Repository) -> None:
    """Install what a repository's package.json names, whatever version of node it asks for."""
    clone = lab.clone(repository)
    if (clone / "node_modules").is_dir():
        return
    command = [
        str((lab.tools / "node_modules" / ".bin" / "pnpm").resolve()),
        "install",
        "--ignore-scripts",
        "--frozen-lockfile",
        "--config.engine-strict=false",
        "--config.manage-package-manager-versions=false",
        f"--store-dir={(lab.tools / 'pnpm-store').resolve()}",
    ]
    subprocess.run(command, check=True, cwd=clone)
