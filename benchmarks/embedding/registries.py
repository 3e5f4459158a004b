"""Fetches packages by their registries' ordinary clients and reads the archives without unpacking."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

COMMANDS = {
    # wheels, because fetching a source distribution would run its build script
    "pypi": "python3 -m pip download --quiet --no-deps --only-binary :all: --dest {folder} {name}",
    "npm": "npm pack --silent --ignore-scripts --pack-destination {folder} {name}",
    # source lists must be configured; APT_CONFIG may name a configuration of one's own
    "debian": "apt-get source --quiet --download-only --only-source {name}",
}
PATIENCE = 240  # seconds for one download; a package that takes longer is left out
TARBALLS = (".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
LARGEST_FILE = 200_000  # bytes; larger ones are mostly data or bundles


def fetch(registry: str, name: str, cache: Path) -> list[Path]:
    """The archives of one package, from the cache if they are there; empty if they cannot be had."""
    folder = cache / registry / name.replace("/", "+")
    finished = folder / ".finished"
    if not finished.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [part.format(folder=folder, name=name) for part in COMMANDS[registry].split()]
        try:
            subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return []
        finished.touch()
    return sorted(path for path in folder.iterdir() if _is_source(path.name))


def _is_source(name: str) -> bool:
    return name.endswith(".whl") or (name.endswith(TARBALLS) and ".debian.tar" not in name)


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file of bearable size, in the archive's order."""
    if archive.suffix == ".whl":
        yield from _zip_members(archive)
    else:
        yield from _tar_members(archive)


def _zip_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            if not entry.is_dir() and entry.file_size <= LARGEST_FILE:
                yield entry.filename, opened.read(entry)


def _tar_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as opened:
        for entry in opened:
            content = opened.extractfile(entry) if entry.isfile() and entry.size <= LARGEST_FILE else None
            if content is not None:
                yield entry.name, content.read()
