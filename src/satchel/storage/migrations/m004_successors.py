"""What became of an ended id: the id in its place, and which of several chunks of one title it was."""

STATEMENTS = (
    "ALTER TABLE retired ADD COLUMN place INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE retired ADD COLUMN successor BLOB NOT NULL DEFAULT x''",
)
