"""Every error a caller can meet.

    SatchelError
    ├── InvalidRequest          invalid_request      a flag, field or option that cannot be used
    │   ├── InvalidQuery        invalid_query        an empty or impossible question
    │   ├── InvalidBudget       invalid_budget       a budget too small to answer in
    │   ├── InvalidCursor       invalid_cursor       a cursor that was not given out
    │   └── TooLarge            too_large            a request above its limit
    ├── ProjectNotFound         project_not_found    the segment is no folder
    ├── PathNotAllowed          path_not_allowed     a path that leaves the root
    ├── CursorMismatch          cursor_mismatch      a cursor of another question, root or index
    ├── FileNotFound            file_not_found
    ├── ChunkNotFound           chunk_not_found
    ├── SymbolNotFound          symbol_not_found
    ├── RefNotFound             ref_not_found        a git ref that cannot be read
    ├── IndexProblem
    │   ├── IndexMissing        index_missing
    │   ├── IndexStale          index_stale          and the caller takes no stale answer
    │   ├── IndexCorrupt        index_corrupt
    │   ├── IndexIncompatible   index_incompatible   written by a newer Satchel
    │   └── IndexBusy           index_busy           another process is indexing
    ├── ConfigError             config_error         settings, or a disk or folder, that cannot be used
    ├── Unauthorized            unauthorized         a server asks for a token
    ├── Timeout                 timeout              the answer took longer than the caller waits
    ├── Cancelled               cancelled            the caller went away
    ├── Unsupported             unsupported
    └── Internal                internal

Each has a stable `code`; messages name the value and the limit, `hint` says what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class SatchelError(Exception):
    """The root. `next_actions` are `{tool, args, reason}` that a program can run as they are."""

    code: ClassVar[str] = "internal"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        details: Mapping[str, Any] | None = None,
        next_actions: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})
        self.next_actions = [dict(action) for action in next_actions]

    def as_dict(self) -> dict[str, Any]:
        """The error as every surface shows it."""
        return {
            "code": self.code,
            "message": self.message,
            "details": self.details,
            "hint": self.hint,
            "next_actions": self.next_actions,
        }


class InvalidRequest(SatchelError):
    code = "invalid_request"


class InvalidQuery(InvalidRequest):
    code = "invalid_query"


class InvalidBudget(InvalidRequest):
    code = "invalid_budget"


class InvalidCursor(InvalidRequest):
    code = "invalid_cursor"


class TooLarge(InvalidRequest):
    code = "too_large"


class CursorMismatch(SatchelError):
    code = "cursor_mismatch"


class ProjectNotFound(SatchelError):
    code = "project_not_found"


class PathNotAllowed(SatchelError):
    code = "path_not_allowed"


class FileNotFound(SatchelError):
    code = "file_not_found"


class ChunkNotFound(SatchelError):
    code = "chunk_not_found"


class SymbolNotFound(SatchelError):
    code = "symbol_not_found"


class RefNotFound(SatchelError):
    code = "ref_not_found"


class IndexProblem(SatchelError):
    code = "index_corrupt"


class IndexMissing(IndexProblem):
    code = "index_missing"


class IndexStale(IndexProblem):
    code = "index_stale"


class IndexCorrupt(IndexProblem):
    code = "index_corrupt"


class IndexIncompatible(IndexProblem):
    code = "index_incompatible"


class IndexBusy(IndexProblem):
    code = "index_busy"


class ConfigError(SatchelError):
    code = "config_error"


class Unauthorized(SatchelError):
    code = "unauthorized"


class Timeout(SatchelError):
    code = "timeout"


class Cancelled(SatchelError):
    code = "cancelled"


class Unsupported(SatchelError):
    code = "unsupported"


class Internal(SatchelError):
    code = "internal"
