"""The past of the files: one row, or none where there is no history."""

STATEMENTS = ("CREATE TABLE history (data BLOB NOT NULL)",)
