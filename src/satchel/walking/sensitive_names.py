"""Recognise files that hold secrets by their names.

Names are compared by whole words: `token` or `key` inside another word does not count, because `tokenizer.py`
and `monkey.py` are code. A name that contains a token itself is kept out as well, and shown with the token
masked.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from satchel.plugins import late

if TYPE_CHECKING:
    from satchel.walking import redaction
else:
    redaction = late("satchel.walking.redaction")  # few trees have a name that could contain a token

TOKEN_IN_NAME = "token-in-name"
_SHORTEST_TOKEN = 16  # characters
# A token has a digit among its letters, or a mix of cases that no name in camel case has. Every name of a
# tree is tested for this, so the cheapest test comes first; one name in twenty passes it.
_DIGIT = re.compile("[0-9]")
_WITH_DIGIT = re.compile(r"(?=[A-Za-z]{0,7}[0-9])[A-Za-z0-9]{8}")
_MIXED_CASE = re.compile(r"[a-z][A-Z][a-z][A-Z]|[A-Z]{2}[a-z][A-Z]")

_FOLDERS = {
    ".ssh": "ssh-folder",
    ".git": "git-folder",
    ".aws": "aws-folder",
    "__pycache__": "bytecode",
}
_FOLDER_PAIRS = {(".github", "agents"): "agents-folder"}
_NAMES = {
    ".env": "env-file",
    ".npmrc": "package-login",
    ".pypirc": "package-login",
    ".netrc": "network-login",
    "_netrc": "network-login",  # its name on Windows
    ".pgpass": "database-login",
}
_SUFFIXES = {
    ".pem": "private-key",
    ".key": "private-key",
    ".p12": "key-store",
    ".pfx": "key-store",
    ".jks": "key-store",
    ".keystore": "key-store",
    ".pyc": "bytecode",
}
_SAMPLE_WORDS = ("example", "sample", "template", "dist")  # `.env.example`, `example.env`
_SAMPLE_SUFFIXES = tuple(f".{word}" for word in _SAMPLE_WORDS)
_SAMPLE_STEM = re.compile(rf"(?:^|[^a-z])(?:{'|'.join(_SAMPLE_WORDS)})$")
_SSH_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?![a-z])")

# Code of these names (`secrets.py`, `password_validation.py`) stays in: its values are redacted.
# fmt: off
_DATA_SUFFIXES = frozenset({
    ".json", ".json5", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".config",
    ".txt", ".properties", ".xml", ".env", ".csv", ".tsv", ".sqlite", ".sqlite3", ".db", ".kdbx",
    ".plist", ".tfvars", ".dat", ".enc", ".gpg", ".asc", ".bak", ".old", ".orig", ".log",
    ".sql", ".xlsx", ".xls", ".tf", ".hcl",
})
# fmt: on
_SECRET_DATA = (
    (re.compile(r"^credentials|[^a-z]credentials(?![a-z])"), "credentials"),
    (re.compile(r"(?:^|[^a-z])secrets(?![a-z])"), "secrets"),
    (re.compile(r"password(?!less)"), "passwords"),  # `passwordless` is about doing without passwords
)


def is_sensitive(path: str) -> str | None:
    """Return the name of the rule that keeps a path out, None if no rule does."""
    folder, _, name = path.rpartition("/")
    return sensitive_folder(folder) or sensitive_name(name)


def sensitive_folder(folder: str) -> str | None:
    """Return the rule that keeps a folder and everything in it out, None if no rule does."""
    while folder:
        rule = sensitive_last_folder(folder)
        if rule:
            return rule
        folder = folder.rpartition("/")[0]
    return None


def sensitive_last_folder(folder: str) -> str | None:
    """Return the rule that keeps a folder out whose parents are known to be harmless: only its last two names
    are checked."""
    above, _, name = folder.rpartition("/")
    lowered = name.lower()
    rule = _FOLDERS.get(lowered) or _FOLDER_PAIRS.get((above.rpartition("/")[2].lower(), lowered))
    return rule or (TOKEN_IN_NAME if holds_token(name) else None)


@lru_cache(maxsize=65_536)  # many files share a name, such as `__init__.py`
def sensitive_name(name: str) -> str | None:
    """Return the rule that keeps a file of this name out in any folder, None if no rule does."""
    # This comes first, because a path with a token in it must be masked wherever it is reported.
    if holds_token(name):
        return TOKEN_IN_NAME
    lowered = name.lower()
    dot = lowered.rfind(".")
    suffix = lowered[dot:] if dot >= 0 else ""
    rule = _SUFFIXES.get(suffix) or _NAMES.get(lowered)
    if rule:
        return rule
    if lowered.startswith(".env."):
        return None if lowered.endswith(_SAMPLE_SUFFIXES) else "env-file"
    if suffix == ".env" and not _SAMPLE_STEM.search(lowered[:dot]):
        return "env-file"
    if lowered.startswith("id_") and _SSH_KEY.match(lowered):
        return "ssh-key"
    if "secrets" in lowered or "credentials" in lowered or "password" in lowered:
        return _secret_data(lowered, suffix if dot > 0 else "")
    return None


def without_tokens(path: str) -> str:
    """Return the path with `«redacted:kind»` in place of each token in its names."""
    return redaction.redact(path).text if any(map(holds_token, path.split("/"))) else path


def holds_token(name: str) -> bool:
    """Return whether the name of a file or folder contains a token."""
    if len(name) < _SHORTEST_TOKEN:
        return False
    with_digit = _DIGIT.search(name) is not None and _WITH_DIGIT.search(name) is not None
    if not with_digit and (name.islower() or _MIXED_CASE.search(name) is None):
        return False
    return redaction.holds_secret(name)


def _secret_data(lowered: str, suffix: str) -> str | None:
    """Return the rule for a data file that is named after secrets, None for code of such a name."""
    if suffix and suffix not in _DATA_SUFFIXES:
        return None
    return next((rule for pattern, rule in _SECRET_DATA if pattern.search(lowered)), None)
