"""How errors leave: the one table from an error's code to what each surface says."""

from __future__ import annotations

EXIT_OK = 0
EXIT_DOES_NOT_HOLD = 1  # a check ran and found problems
EXIT_USAGE = 2

EXIT_CODES = {
    "invalid_request": EXIT_USAGE,
    "invalid_query": EXIT_USAGE,
    "invalid_budget": EXIT_USAGE,
    "unsupported": EXIT_USAGE,
    "path_not_allowed": EXIT_USAGE,
    "project_not_found": 3,
    "file_not_found": 3,
    "chunk_not_found": 3,
    "symbol_not_found": 3,
    "ref_not_found": 3,
    "index_missing": 4,
    "index_corrupt": 4,
    "index_incompatible": 4,
    "index_busy": 5,
    "config_error": 6,
    "internal": 70,
}
