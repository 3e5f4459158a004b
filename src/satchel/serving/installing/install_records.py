"""Records of what was installed where, so that it can be removed to the byte. No text of users is in them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from satchel.serving.clients import Folder, Machine
from satchel.serving.installing.file_edits import (
    EditTrace,
    create_folders,
    remove_folders,
    replace_file,
    resolve_links,
)

_FOLDER = Folder("{config}/satchel", windows="{appdata}/satchel")  # where the user's settings are, too
_FILE = "installed.json"
_VERSION = 1


class InstallRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One edited file: whether it was created, the folders created for it, and the trace of the edit."""

    created: bool = False
    folders: tuple[str, ...] = ()
    trace: EditTrace = EditTrace()


class _RecordsFile(msgspec.Struct):
    """The content of the records file."""

    version: int = _VERSION
    folders: tuple[str, ...] = ()  # created for the records file itself
    files: dict[str, InstallRecord] = {}


class InstallRecords:
    """The install records of one user. A file of ours without a record is kept even if it is empty."""

    def __init__(self, machine: Machine) -> None:
        self._path = _FOLDER.on(machine) / _FILE
        self._stored = _RecordsFile()
        try:
            stored = msgspec.json.decode(self._path.read_bytes(), type=_RecordsFile)
            self._stored = stored if stored.version == _VERSION else self._stored
        except (OSError, msgspec.DecodeError):
            pass

    def find(self, path: Path) -> InstallRecord | None:
        """Return the record of a file."""
        return self._stored.files.get(str(resolve_links(path)))

    def add(self, path: Path, record: InstallRecord) -> None:
        """Add the record of a file."""
        self._stored.files[str(resolve_links(path))] = record

    def remove(self, path: Path) -> None:
        """Remove the record of a file."""
        self._stored.files.pop(str(resolve_links(path)), None)

    def add_folders(self, created: dict[Path, list[Path]]) -> None:
        """Add the folders that writing the files created, which are known only afterwards."""
        for path, folders in created.items():
            record = self._stored.files.get(str(path))
            if record is not None and folders:
                names = tuple(str(folder) for folder in folders)
                self._stored.files[str(path)] = msgspec.structs.replace(record, folders=names)

    def write(self, unused_folders: list[Path]) -> None:
        """Remove unused folders and write the records; without any record the file itself is removed.

        A folder that still holds other files of ours is removed with the last of them.
        """
        for folder in remove_folders(unused_folders):
            self._reassign(folder)
        if self._stored.files:
            created = create_folders(self._path.parent)
            self._stored.folders += tuple(str(folder) for folder in created)
            replace_file(self._path, msgspec.json.format(msgspec.json.encode(self._stored), indent=1) + b"\n")
        elif self._path.exists():
            self._path.unlink()
            remove_folders(Path(folder) for folder in self._stored.folders)

    def _reassign(self, folder: Path) -> None:
        """Record a folder with another file inside it, which removes it later."""
        inside = (name for name in self._stored.files if Path(name).is_relative_to(folder))
        name = next(inside, None)
        if name is not None:
            record = self._stored.files[name]
            more = (*record.folders, str(folder))
            self._stored.files[name] = msgspec.structs.replace(record, folders=more)
        elif self._path.is_relative_to(folder):
            self._stored.folders += (str(folder),)
