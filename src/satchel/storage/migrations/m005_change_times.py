"""The change time and the number of each file, by which it is known to be unchanged; 0 matches none."""

STATEMENTS = (
    "ALTER TABLE files ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE files ADD COLUMN inode INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE skipped ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE skipped ADD COLUMN inode INTEGER NOT NULL DEFAULT 0",
)
