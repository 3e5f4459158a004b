"""The shape of the SQLite file, as small ordered steps; `PRAGMA user_version` counts them."""

from __future__ import annotations

from satchel.storage.migrations import (
    m001_initial,
    m002_units,
    m003_history,
    m004_successors,
    m005_change_times,
    m006_checks,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    m001_initial.STATEMENTS,
    m002_units.STATEMENTS,
    m003_history.STATEMENTS,
    m004_successors.STATEMENTS,
    m005_change_times.STATEMENTS,
    m006_checks.STATEMENTS,
)
SCHEMA_VERSION = len(MIGRATIONS)
CHECKED_SCHEMA = 6  # an index of an older one has no checks: it is not read, and indexed anew
