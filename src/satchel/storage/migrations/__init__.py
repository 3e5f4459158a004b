"""The shape of the SQLite file, as small ordered steps; `PRAGMA user_version` counts them."""

from __future__ import annotations

from satchel.storage.migrations import (
    m001_initial,
    m002_units,
    m003_history,
    m004_successors,
    m005_change_times,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    m001_initial.STATEMENTS,
    m002_units.STATEMENTS,
    m003_history.STATEMENTS,
    m004_successors.STATEMENTS,
    m005_change_times.STATEMENTS,
)
SCHEMA_VERSION = len(MIGRATIONS)
