"""Files of the user's: read, changed in mind first, and written at the end, whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from satchel.errors import ConfigError
from satchel.file_writing import disk_trouble


class Change(NamedTuple):
    """A file as it was found and as it shall be; None where there is none."""

    before: bytes | None
    after: bytes | None


class Files:
    """What has been read and what would be written. A link leads to the file that is changed, and stays."""

    def __init__(self) -> None:
        self.changes: dict[Path, Change] = {}

    def read(self, path: Path) -> bytes | None:
        """The file as it would be now."""
        target = resolved(path)
        return self.changes[target].after if target in self.changes else _read(target)

    def exists(self, path: Path) -> bool:
        return self.read(path) is not None

    def put(self, path: Path, after: bytes | None) -> None:
        """Change a file in mind; None removes it."""
        target = resolved(path)
        first = self.changes[target].before if target in self.changes else _read(target)
        self.changes[target] = Change(first, after)

    def write(self) -> dict[Path, list[Path]]:
        """Do what was planned, or nothing of it; tells which folders were made for which file."""
        wanted = {path: change for path, change in self.changes.items() if change.before != change.after}
        for path, change in wanted.items():
            if _read(path) != change.before:  # a running client writes its own settings
                raise ConfigError(
                    f"{str(path)!r} was changed by another program meanwhile", hint="run it again"
                )
        made: dict[Path, list[Path]] = {}
        done: list[Path] = []
        try:
            for path, change in wanted.items():
                made[path] = _become(path, change.after)
                done.append(path)
        except BaseException:
            for path in reversed(done):
                _become(path, wanted[path].before)
            remove_folders(folder for folders in made.values() for folder in folders)
            raise
        return made


def _become(path: Path, data: bytes | None) -> list[Path]:
    """Give a file its content, or remove it; tells which folders were made."""
    if data is None:
        path.unlink(missing_ok=True)
        return []
    made = make_folders(path.parent)
    try:
        replace(path, data)
    except BaseException:
        remove_folders(made)
        raise
    return made


def resolved(path: Path) -> Path:
    """The file itself, wherever links lead."""
    return Path(os.path.realpath(path))


def replace(path: Path, data: bytes) -> None:
    """Write a file in one step; who may read it stays as it was."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(partial, "xb") as stream:
            if path.exists():  # before the first byte: settings may hold keys
                shutil.copymode(path, partial)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise disk_trouble(error, repr(str(path))) or ConfigError(
            f"{str(path)!r} cannot be written: {error.strerror}", hint="see who owns it"
        ) from error


def make_folders(folder: Path) -> list[Path]:
    """Make a folder; tells which had to be made, the innermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_trouble(error, repr(str(folder))) or ConfigError(
            f"{str(folder)!r} cannot be made: {error.strerror}", hint="see who owns it"
        ) from error
    return missing


def remove_folders(folders: Iterable[Path]) -> list[Path]:
    """Remove the folders that are empty, the innermost first; the others are somebody's by now."""
    ordered = sorted(set(folders), key=lambda folder: len(folder.parts), reverse=True)
    for folder in ordered:
        with suppress(OSError):
            folder.rmdir()
    return [folder for folder in ordered if folder.exists()]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"{str(path)!r} cannot be read: {error.strerror}", hint="see who owns it"
        ) from error
