"""How errors leave: the one table from an error's code to what each surface says."""

from __future__ import annotations

import msgspec

EXIT_OK = 0
EXIT_DOES_NOT_HOLD = 1  # a check ran and found problems
EXIT_USAGE = 2


class Said(msgspec.Struct, frozen=True):
    """How an error is said: exit code, HTTP status, gRPC status, JSON-RPC error of MCP."""

    exit: int
    http: int
    grpc: str
    mcp: int


_INVALID_PARAMS, _INTERNAL, _NOT_FOUND = -32602, -32603, -32002
_BAD = Said(EXIT_USAGE, 400, "INVALID_ARGUMENT", _INVALID_PARAMS)
_GONE = Said(3, 404, "NOT_FOUND", _NOT_FOUND)
_NO_INDEX = Said(4, 409, "FAILED_PRECONDITION", _INTERNAL)

ERRORS = {
    "invalid_request": _BAD,
    "invalid_query": _BAD,
    "invalid_budget": _BAD,
    "invalid_cursor": _BAD,
    "cursor_mismatch": msgspec.structs.replace(_BAD, http=409, grpc="FAILED_PRECONDITION"),
    "unsupported": msgspec.structs.replace(_BAD, grpc="UNIMPLEMENTED"),
    "path_not_allowed": msgspec.structs.replace(_BAD, http=403, grpc="PERMISSION_DENIED"),
    "project_not_found": _GONE,
    "file_not_found": _GONE,
    "chunk_not_found": _GONE,
    "symbol_not_found": _GONE,
    "ref_not_found": _GONE,
    "index_missing": _NO_INDEX,
    "index_stale": _NO_INDEX,
    "index_corrupt": msgspec.structs.replace(_NO_INDEX, grpc="DATA_LOSS"),
    "index_incompatible": _NO_INDEX,
    "index_busy": Said(5, 503, "UNAVAILABLE", _INTERNAL),
    "config_error": Said(6, 400, "FAILED_PRECONDITION", _INVALID_PARAMS),
    "unauthorized": Said(7, 401, "UNAUTHENTICATED", _INTERNAL),
    "too_large": Said(EXIT_USAGE, 413, "RESOURCE_EXHAUSTED", _INVALID_PARAMS),
    "timeout": Said(8, 408, "DEADLINE_EXCEEDED", _INTERNAL),
    "cancelled": Said(130, 499, "CANCELLED", _INTERNAL),
    "internal": Said(70, 500, "INTERNAL", _INTERNAL),
}
