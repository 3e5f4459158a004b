"""The shape of the SQLite file, as small ordered steps; `PRAGMA user_version` counts them."""

from __future__ import annotations

import sqlite3

from satchel.storage.checks import row_check
from satchel.storage.migrations import (
    m001_initial,
    m002_units,
    m003_history,
    m004_successors,
    m005_change_times,
    m006_checks,
    m007_code_graph,
    m008_scip,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    m001_initial.STATEMENTS,
    m002_units.STATEMENTS,
    m003_history.STATEMENTS,
    m004_successors.STATEMENTS,
    m005_change_times.STATEMENTS,
    m006_checks.STATEMENTS,
    m007_code_graph.STATEMENTS,
    m008_scip.STATEMENTS,
)
SCHEMA_VERSION = len(MIGRATIONS)
READABLE_SCHEMA = 8  # an index of an older one lacks checks of now: it is not read, and indexed anew


def migrate(connection: sqlite3.Connection) -> bool:
    """Give the tables the shape of now, inside the transaction, and return whether rows lack checks of
    now."""
    connection.create_function("row_check", -1, row_check, deterministic=True)
    before = user_version(connection)
    for version in range(before, SCHEMA_VERSION):
        for statement in MIGRATIONS[version]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version + 1}")
    return before < READABLE_SCHEMA


def user_version(connection: sqlite3.Connection) -> int:
    """Return how many steps a file has gone."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
