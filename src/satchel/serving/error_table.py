"""The status of every error code on each surface: exit code, HTTP, gRPC and JSON-RPC."""

from __future__ import annotations

import msgspec

EXIT_OK = 0
EXIT_DOES_NOT_HOLD = 1  # a check ran and found problems
EXIT_USAGE = 2


class ErrorStatus(msgspec.Struct, frozen=True):
    """The status of an error: exit code, HTTP status, gRPC status, and JSON-RPC error code for MCP."""

    exit: int
    http: int
    grpc: str
    mcp: int


_INVALID_PARAMS, _INTERNAL_ERROR, _NOT_FOUND = -32602, -32603, -32002
_BAD_REQUEST = ErrorStatus(EXIT_USAGE, 400, "INVALID_ARGUMENT", _INVALID_PARAMS)
_MISSING = ErrorStatus(3, 404, "NOT_FOUND", _NOT_FOUND)
_NO_INDEX = ErrorStatus(4, 409, "FAILED_PRECONDITION", _INTERNAL_ERROR)

ERRORS = {
    "invalid_request": _BAD_REQUEST,
    "invalid_query": _BAD_REQUEST,
    "invalid_budget": _BAD_REQUEST,
    "invalid_cursor": _BAD_REQUEST,
    "cursor_mismatch": msgspec.structs.replace(_BAD_REQUEST, http=409, grpc="FAILED_PRECONDITION"),
    "unsupported": msgspec.structs.replace(_BAD_REQUEST, grpc="UNIMPLEMENTED"),
    "path_not_allowed": msgspec.structs.replace(_BAD_REQUEST, http=403, grpc="PERMISSION_DENIED"),
    "project_not_found": _MISSING,
    "file_not_found": _MISSING,
    "chunk_not_found": _MISSING,
    "symbol_not_found": _MISSING,
    "ref_not_found": _MISSING,
    "index_missing": _NO_INDEX,
    "index_stale": _NO_INDEX,
    "index_corrupt": msgspec.structs.replace(_NO_INDEX, grpc="DATA_LOSS"),
    "index_incompatible": _NO_INDEX,
    "index_busy": ErrorStatus(5, 503, "UNAVAILABLE", _INTERNAL_ERROR),
    "config_error": ErrorStatus(6, 400, "FAILED_PRECONDITION", _INVALID_PARAMS),
    "store_unreachable": ErrorStatus(6, 503, "UNAVAILABLE", _INTERNAL_ERROR),
    "unauthorized": ErrorStatus(7, 401, "UNAUTHENTICATED", _INTERNAL_ERROR),
    "too_large": ErrorStatus(EXIT_USAGE, 413, "RESOURCE_EXHAUSTED", _INVALID_PARAMS),
    "timeout": ErrorStatus(8, 408, "DEADLINE_EXCEEDED", _INTERNAL_ERROR),
    "cancelled": ErrorStatus(130, 499, "CANCELLED", _INTERNAL_ERROR),
    "internal": ErrorStatus(70, 500, "INTERNAL", _INTERNAL_ERROR),
}
