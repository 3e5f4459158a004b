"""Every error that a caller can meet, drawn as the tree of its classes.

    SatchelError
    ├── InvalidRequest          invalid_request      a flag, field or option that cannot be used
    │   ├── InvalidQuery        invalid_query        the query is empty or cannot be searched for
    │   ├── InvalidBudget       invalid_budget       the budget is too small for any answer
    │   ├── InvalidCursor       invalid_cursor       the cursor was not given out by Satchel
    │   └── TooLarge            too_large            the request is above a size limit
    ├── ProjectNotFound         project_not_found    the root is not a folder that can be listed
    ├── PathNotAllowed          path_not_allowed     the path leads out of the root
    ├── CursorMismatch          cursor_mismatch      the cursor belongs to another query, root or index
    ├── FileNotFound            file_not_found       the file is gone or cannot be read
    ├── ChunkNotFound           chunk_not_found      no chunk has this id
    ├── SymbolNotFound          symbol_not_found     no definition has this name
    ├── RefNotFound             ref_not_found        the git ref cannot be read
    ├── IndexProblem                                 (the base of the problems of an index)
    │   ├── IndexMissing        index_missing        there is no index yet
    │   ├── IndexStale          index_stale          the index is out of date and the caller wants a fresh one
    │   ├── IndexCorrupt        index_corrupt        the index is damaged
    │   ├── IndexIncompatible   index_incompatible   the index was written by a newer version
    │   └── IndexBusy           index_busy           another process is writing the index
    ├── ConfigError             config_error         settings, a disk or a folder that cannot be used
    │   └── StoreUnreachable    store_unreachable    the server that keeps an index does not answer
    ├── Unauthorized            unauthorized         the server expects a token
    ├── Timeout                 timeout              the answer took longer than the caller waits
    ├── Cancelled               cancelled            the caller went away
    ├── Unsupported             unsupported          the feature, plug-in or platform is not available
    └── Internal                internal             a defect of Satchel

Each class has a stable `code`. A message names the offending value and its limit; `hint` says what to do
next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class SatchelError(Exception):
    """The base of all errors. `next_actions` are `{tool, args, reason}` objects that a program can run
    unchanged."""

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
        """Return the error as every interface shows it."""
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


class StoreUnreachable(ConfigError):
    code = "store_unreachable"


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


def error_from(told: Mapping[str, Any]) -> SatchelError:
    """Return the error that `as_dict` described; one of an unknown code is an invalid request."""
    kind = _kinds(SatchelError).get(str(told.get("code", "")), InvalidRequest)
    return kind(str(told.get("message", "")), hint=str(told.get("hint", "")), details=told.get("details"))


def _kinds(base: type[SatchelError]) -> dict[str, type[SatchelError]]:
    """Return all classes of errors below a class, by code."""
    found = {base.code: base}
    for kind in base.__subclasses__():
        found.update(_kinds(kind))
    return found
