"""Write files atomically, and turn the errors of a disk or folder into typed errors.

A full disk is the user's to solve, not a defect of Satchel: the error says so, and the old file is still
whole.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from satchel.errors import ConfigError, InvalidRequest, SatchelError

_WRITE_ELSEWHERE = "or write elsewhere; what was there before is as it was"
# Errors of a disk or folder that cannot be written, what each means and what to do. Some systems know fewer.
_REFUSALS = {
    "ENOSPC": ("no space is left on its disk", "make room on that disk"),
    "EDQUOT": ("the disk quota is used up", "make room, or have the quota raised"),
    "EFBIG": ("it would be larger than a file may be here", "raise the limit of file sizes (ulimit -f)"),
    "EROFS": ("the file system is read-only", "make it writable"),
    "EACCES": ("permission denied", "see who owns it"),
    "EPERM": ("permission denied", "see who owns it"),
    "EIO": ("the disk reports an error", "look at the disk"),
}
_BY_NUMBER = {getattr(errno, name): told for name, told in _REFUSALS.items() if hasattr(errno, name)}


def replace_file(path: Path, data: bytes, *, what: str = "", elsewhere: str = "") -> None:
    """Replace the content of a file in one step. A crash or a full disk leaves the old file, and no partial
    file beside it. The typed error names the file, or `what` it belongs to."""
    # The process id keeps two writers apart.
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(partial, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise cannot_write(what or repr(str(path)), error, elsewhere) from error
    finally:
        # The partial file is gone if all went well. An error here must not hide the first one.
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def cannot_write(what: str, error: OSError, elsewhere: str = "") -> SatchelError:
    """Return the error for a failed write: the disk or folder refused, or the name cannot be that of a
    file."""
    return disk_trouble(error, what, elsewhere) or InvalidRequest(
        f"{what} cannot be written: {error.strerror}", hint="name a file in a folder that is there"
    )


def make_folder(folder: Path, *, what: str, elsewhere: str) -> None:
    """Make a folder with those above it, or raise a typed error that says what it was for and the way out."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable_folder(error, what=what, elsewhere=elsewhere) from error


def unusable_folder(error: OSError, *, what: str, elsewhere: str) -> ConfigError:
    """Return the error for a folder that cannot be made or written."""
    return disk_trouble(error, what, elsewhere) or ConfigError(
        f"{what} cannot be written: {error.strerror}", hint=elsewhere
    )


def disk_trouble(error: OSError, what: str = "", elsewhere: str = "") -> ConfigError | None:
    """Return the error for a disk or folder that refuses to be written, None for any other OSError.
    `elsewhere` is the advice how to use another place."""
    number = error.errno
    if number is None or number not in _BY_NUMBER:
        return None
    reason, remedy = _BY_NUMBER[number]
    named = repr(str(error.filename)) if error.filename else "a file"
    return ConfigError(
        f"{what or named} cannot be written: {reason}",
        hint=f"{remedy}, {elsewhere or _WRITE_ELSEWHERE}",
        details={"reason": errno.errorcode[number]},
    )
