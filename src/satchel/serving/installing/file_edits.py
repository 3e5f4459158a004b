"""Edits of files of the user: paragraphs that are added and removed again to the byte, and changes that are
staged in memory and written together, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from satchel.errors import ConfigError
from satchel.file_writing import disk_trouble


class FileChange(NamedTuple):
    """The content of a file before and after a change; None where the file does not exist."""

    before: bytes | None
    after: bytes | None


class StagedFiles:
    """Changes of files that are not written yet. A symbolic link stays, and its target is changed."""

    def __init__(self) -> None:
        self.changes: dict[Path, FileChange] = {}

    def read(self, path: Path) -> bytes | None:
        """Return the content of a file with its staged change; None if it does not exist."""
        target = resolve_links(path)
        return self.changes[target].after if target in self.changes else _read(target)

    def exists(self, path: Path) -> bool:
        """Return whether the file exists, with its staged change."""
        return self.read(path) is not None

    def stage(self, path: Path, after: bytes | None) -> None:
        """Stage new content for a file; None removes the file."""
        target = resolve_links(path)
        first = self.changes[target].before if target in self.changes else _read(target)
        self.changes[target] = FileChange(first, after)

    def write(self) -> dict[Path, list[Path]]:
        """Write all staged changes, or none if one fails; return the folders created for each file."""
        wanted = {path: change for path, change in self.changes.items() if change.before != change.after}
        for path, change in wanted.items():
            # A running client writes its own settings.
            if _read(path) != change.before:
                raise ConfigError(
                    f"{str(path)!r} was changed by another program meanwhile", hint="run it again"
                )
        created: dict[Path, list[Path]] = {}
        done: list[Path] = []
        try:
            for path, change in wanted.items():
                created[path] = _set_content(path, change.after)
                done.append(path)
        except BaseException:
            for path in reversed(done):
                _set_content(path, wanted[path].before)
            remove_folders(folder for folders in created.values() for folder in folders)
            raise
        return created


def _set_content(path: Path, data: bytes | None) -> list[Path]:
    """Write or remove a file; return the folders that were created for it."""
    if data is None:
        path.unlink(missing_ok=True)
        return []
    created = create_folders(path.parent)
    try:
        replace_file(path, data)
    except BaseException:
        remove_folders(created)
        raise
    return created


def resolve_links(path: Path) -> Path:
    """Return the path of the file that symbolic links lead to."""
    return Path(os.path.realpath(path))


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step; its permissions stay as they were."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(partial, "xb") as stream:
            # Before the first byte is written: settings may hold secrets.
            if path.exists():
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


def create_folders(folder: Path) -> list[Path]:
    """Create a folder and its parents; return the ones that did not exist, innermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_trouble(error, repr(str(folder))) or ConfigError(
            f"{str(folder)!r} cannot be made: {error.strerror}", hint="see who owns it"
        ) from error
    return missing


def remove_folders(folders: Iterable[Path]) -> list[Path]:
    """Remove the empty ones of the folders, innermost first; return the ones that still exist."""
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


class EditTrace(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an edit added around its entry. It holds nothing of the user's own text."""

    made: int = 0  # objects that were created to hold the entry
    space: str = ""  # white space that was added beside the entry


def append_paragraph(data: bytes, paragraph: bytes) -> tuple[bytes, EditTrace]:
    """Return the file with a paragraph at its end, and the trace of the edit."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    if not data.strip(b"\xef\xbb\xbf \t\r\n") or data.endswith(newline * 2):
        space = b""
    else:
        space = newline if data.endswith(b"\n") else newline * 2
    return data + space + paragraph, EditTrace(space=space.decode())


def remove_paragraph(data: bytes, start: int, stop: int, space: str) -> bytes:
    """Return the file without the paragraph from `start` to `stop` and the white space added before it."""
    before, after = data[:start], data[stop:]
    lead = space.encode()
    if lead and before.endswith(lead):
        before = before[: -len(lead)]
        # Somebody has added text below the paragraph.
        if after.strip() and not before.endswith(b"\n"):
            before += b"\r\n" if b"\r\n" in data else b"\n"
    return before + after
