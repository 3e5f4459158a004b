"""What was put where, so that it can be taken back to the byte. Nothing of what users wrote is kept here."""

from __future__ import annotations

from pathlib import Path

import msgspec

from satchel.serving.clients.client import Folder, Machine
from satchel.serving.installing.files import make_folders, remove_folders, replace, resolved
from satchel.serving.installing.trace import Trace

_FOLDER = Folder("{config}/satchel", windows="{appdata}/satchel")  # where the user's settings are, too
_FILE = "installed.json"
_VERSION = 1


class Receipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file: was it made, which folders were made for it, and what the edit left behind."""

    created: bool = False
    folders: tuple[str, ...] = ()
    trace: Trace = Trace()


class _Kept(msgspec.Struct):
    version: int = _VERSION
    folders: tuple[str, ...] = ()  # made for the receipts themselves
    files: dict[str, Receipt] = {}


class Receipts:
    """The receipts of one user. One that is lost or unreadable costs only what cannot be known without."""

    def __init__(self, machine: Machine) -> None:
        self._path = _FOLDER.on(machine) / _FILE
        self._kept = _Kept()
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=_Kept)
            self._kept = kept if kept.version == _VERSION else self._kept
        except (OSError, msgspec.DecodeError):
            pass

    def of(self, path: Path) -> Receipt | None:
        return self._kept.files.get(str(resolved(path)))

    def keep(self, path: Path, receipt: Receipt) -> None:
        self._kept.files[str(resolved(path))] = receipt

    def drop(self, path: Path) -> None:
        self._kept.files.pop(str(resolved(path)), None)

    def add_folders(self, made: dict[Path, list[Path]]) -> None:
        """Folders are known only when the files have been written."""
        for path, folders in made.items():
            receipt = self._kept.files.get(str(path))
            if receipt is not None and folders:
                names = tuple(str(folder) for folder in folders)
                self._kept.files[str(path)] = msgspec.structs.replace(receipt, folders=names)

    def close(self, folders: list[Path]) -> None:
        """Remove the folders that are not needed any more and write the receipts; without any there is no
        file. A folder that others of our files are in waits for the last of them."""
        for folder in remove_folders(folders):
            self._hand_on(folder)
        if self._kept.files:
            made = make_folders(self._path.parent)
            self._kept.folders += tuple(str(folder) for folder in made)
            replace(self._path, msgspec.json.format(msgspec.json.encode(self._kept), indent=1) + b"\n")
        elif self._path.exists():
            self._path.unlink()
            remove_folders(Path(folder) for folder in self._kept.folders)

    def _hand_on(self, folder: Path) -> None:
        inside = (name for name in self._kept.files if Path(name).is_relative_to(folder))
        name = next(inside, None)
        if name is not None:
            receipt = self._kept.files[name]
            more = (*receipt.folders, str(folder))
            self._kept.files[name] = msgspec.structs.replace(receipt, folders=more)
        elif self._path.is_relative_to(folder):
            self._kept.folders += (str(folder),)
