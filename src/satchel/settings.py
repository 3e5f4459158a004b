"""Which options does each stage take, and where do they come from? The only reader of settings files and of
environment variables that decide what Satchel does.

Other files touch the environment only to hand it on to a program that they start, or to set something for a
library; `tests/test_house.py` names them.

Options resolve once, at the edge: request > flag > environment > project file (`satchel.toml`)
> user file > default. A project file comes with the repository and is not trusted: it can leave
more out, never take in what the user has not allowed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from satchel import ids
from satchel.errors import ConfigError

PROJECT_FILE = "satchel.toml"
INDEX_FOLDER = "_ctx"
TOKEN_VARIABLE = "SATCHEL_TOKEN"
HOOK_SECRET_VARIABLE = "SATCHEL_HOOK_SECRET"
_YES = ("1", "true", "yes", "on")
QUALITY, FAST = "quality", "fast"  # ranked with vectors, or by words and structure alone


class WalkOptions(Struct, frozen=True):
    """What the walk takes in. `extra_ignores` are gitignore patterns of the caller, relative to the root;
    `index_folder` is where the index is, if that is inside the root and not in `_ctx`."""

    max_file_bytes: int = 2 * 1024 * 1024  # larger files are data: registers, dumps, fixtures
    include_hidden: bool = False
    include_vendored: bool = False
    include_generated: bool = False
    extra_ignores: tuple[str, ...] = ()
    index_folder: str = ""


class Options(Struct, frozen=True):
    """Everything an engine needs to know beside the root."""

    walk: WalkOptions = field(default_factory=WalkOptions)
    workers: int = 0  # 0: one per core
    index: str = ""  # a folder, or the URL of a store; empty: `_ctx` in the root
    profile: str = QUALITY
    query_log: bool = False  # whether questions are noted beside the index


def load(
    root: Path, *, index_dir: str | os.PathLike[str] = "", workers: int = 0, profile: str = ""
) -> Options:
    """Return the options of a project: what the caller gave, over the environment, over the files."""
    user = _read(_user_file())
    query_log = _wants_log(user.pop("query_log", False))
    walk = _apply(WalkOptions(), user, trusted=True)
    walk = _apply(walk, _read(root / PROJECT_FILE), trusted=False)
    number = workers or _environment_number("SATCHEL_WORKERS")
    options = Options(walk, number, chosen_index(root, index_dir), query_log=query_log)
    return with_profile(options, chosen_profile(profile))


def chosen_profile(profile: str = "") -> str:
    """Return the way to rank that the caller gave, or the environment, or the usual one."""
    return profile or os.environ.get("SATCHEL_PROFILE") or QUALITY


def with_profile(options: Options, profile: str) -> Options:
    """Return the options with another way to rank."""
    if profile not in (QUALITY, FAST):
        raise ConfigError(f"profile is {profile!r}", hint=f"use {QUALITY} or {FAST}")
    return replace(options, profile=profile)


def leave_out(options: Options, root: Path, *places: Path) -> Options:
    """Return the options with our own files left out, as far as they are inside the root."""
    inside = [place.resolve() for place in places if place.resolve().is_relative_to(root)]
    patterns = tuple(f"/{place.relative_to(root).as_posix()}" for place in inside if place != root)
    walk = replace(options.walk, extra_ignores=(*options.walk.extra_ignores, *patterns))
    return replace(options, walk=walk)


def with_index_inside(options: Options, root: Path, index_dir: Path) -> Options:
    """Return the options with the index folder known to the walk, if it is inside the root: what we write
    there is left out, and nothing else."""
    folder = index_dir.resolve()
    if not folder.is_relative_to(root):
        return options
    return replace(options, walk=replace(options.walk, index_folder=folder.relative_to(root).as_posix()))


def project_stamp(root: Path) -> tuple[int, int] | None:
    """Return the time and size by which a changed project file is known; None if there is none."""
    return _stamp(root / PROJECT_FILE)


def user_stamp() -> tuple[int, int] | None:
    """Return the time and size by which a changed user file is known; None if there is none."""
    return _stamp(_user_file().resolve())  # many keep their settings elsewhere and link to them


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def chosen_index(root: Path, index_dir: str | os.PathLike[str] = "") -> str:
    """Return the folder or store URL for the index of a root that the caller gave, or the environment; empty
    if neither did.

    `SATCHEL_HOME` keeps all indexes out of the trees, each in a folder named after its root. The slash at the
    end says so in a URL.
    """
    home = os.environ.get("SATCHEL_HOME")
    if index_dir or not home:
        return os.fspath(index_dir)
    base, mark, options = home.partition("?") if "://" in home else (home, "", "")
    return f"{base.rstrip('/')}/{root_name(root)}/{mark}{options}"


def root_name(root: Path) -> str:
    """Return a name for a root that no other root of this machine has."""
    return f"{root.name}-{ids.root_fingerprint(root)}"


class ChunkSearch(Struct, frozen=True):
    """Where a `ChunkManager` keeps its chunks if it is not told, and whether agents may search them."""

    enabled: bool = True
    chunks_dir: Path = Path("store/chunks")
    manifest_path: Path = Path("store/chunks_manifest.json")


def chunk_search() -> ChunkSearch:
    """Return what the environment says of chunk search, in the variables of an older system."""
    usual = ChunkSearch()
    enabled = os.environ.get("AGENT_ENABLE_CHUNK_SEARCH")
    return ChunkSearch(
        enabled=usual.enabled if not enabled else enabled.lower() in _YES,
        chunks_dir=Path(os.environ.get("AGENT_CHUNKS_DIR") or usual.chunks_dir),
        manifest_path=Path(os.environ.get("AGENT_CHUNKS_MANIFEST") or usual.manifest_path),
    )


def token() -> str:
    """Return the token that `SATCHEL_TOKEN` asks of callers; empty if there is none."""
    return os.environ.get(TOKEN_VARIABLE, "")


class OidcSettings(Struct, frozen=True):
    """The identity provider whose tokens a served library takes: where its keys are, and which claim of a
    token has the groups of its owner."""

    issuer: str
    audience: str
    jwks: str  # a file or a URL
    claim: str = "groups"


def oidc() -> OidcSettings | None:
    """Return the identity provider that the environment names; None if it names none."""
    names = ("SATCHEL_OIDC_ISSUER", "SATCHEL_OIDC_AUDIENCE", "SATCHEL_OIDC_JWKS")
    given = [os.environ.get(name, "") for name in names]
    if not any(given):
        return None
    missing = [name for name, value in zip(names, given, strict=True) if not value]
    if missing:
        raise ConfigError(f"{missing[0]} is not set", hint="an issuer, an audience and its keys go together")
    issuer, audience, jwks = given
    return OidcSettings(issuer, audience, jwks, os.environ.get("SATCHEL_OIDC_CLAIM") or "groups")


class AuditSettings(Struct, frozen=True):
    """The file that notes who asked what of a server, and whether it has the questions."""

    file: Path
    with_questions: bool = False


def audit() -> AuditSettings | None:
    """Return the audit log that `SATCHEL_AUDIT_LOG` names; None if none is kept."""
    file = os.environ.get("SATCHEL_AUDIT_LOG")
    wanted = os.environ.get("SATCHEL_AUDIT_QUESTIONS", "").lower() in _YES
    return AuditSettings(Path(file), wanted) if file else None


def hook_secret() -> str:
    """Return the secret that push hooks are signed with; empty if none are taken."""
    return os.environ.get(HOOK_SECRET_VARIABLE, "")


def wants_no_colour() -> bool:
    """Return whether `NO_COLOR` is set, as programs agree on."""
    return "NO_COLOR" in os.environ


def library_folder() -> Path:
    """Return the folder of the user's library where none is named."""
    base = (
        os.environ.get("XDG_DATA_HOME")
        or os.environ.get("LOCALAPPDATA")
        or os.path.expanduser("~/.local/share")
    )
    return Path(base) / "satchel" / "library"


def libraries_folder() -> Path:
    """Return the folder for what this machine keeps of libraries whose catalogue is elsewhere."""
    return library_folder().with_name("libraries")


def _user_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA") or os.path.expanduser("~/.config")
    return Path(base) / "satchel" / "config.toml"


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.is_symlink() and path.name == PROJECT_FILE:
            return {}
        if not stat.S_ISREG(path.stat().st_mode):  # reading a FIFO would never end
            raise ConfigError(f"{path.name} is not a regular file", hint="remove it, or put a file there")
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name} is not UTF-8: {error}", hint="correct the file") from error
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the second for arrays in arrays in arrays
        raise ConfigError(f"{path.name} is not valid TOML: {error}", hint="correct the file") from error


def _apply(options: WalkOptions, values: dict[str, Any], *, trusted: bool) -> WalkOptions:
    for key, value in values.items():
        if key == "ignore" and isinstance(value, list) and all(isinstance(item, str) for item in value):
            options = replace(options, extra_ignores=(*options.extra_ignores, *value))
        elif key == "max_file_bytes" and type(value) is int and value > 0:
            allowed = value if trusted else min(value, options.max_file_bytes)
            options = replace(options, max_file_bytes=allowed)
        elif key in ("include_hidden", "include_vendored", "include_generated") and isinstance(value, bool):
            allowed_here = value if trusted else value and getattr(options, key)
            options = replace(options, **{key: allowed_here})
        else:
            raise ConfigError(f"setting {key} = {value!r} is not known or not of its type", hint=_KNOWN)
    return options


def _wants_log(in_file: Any) -> bool:
    """Return whether questions are logged. Only the user turns that on: in the user file, or by the
    environment."""
    if not isinstance(in_file, bool):
        raise ConfigError(f"query_log is {in_file!r}, it must be true or false", hint="correct the user file")
    given = os.environ.get("SATCHEL_QUERY_LOG")
    return in_file if given is None else given.lower() in _YES


def _environment_number(name: str) -> int:
    value = os.environ.get(name, "")
    if value and not value.isdecimal():
        raise ConfigError(f"{name} is {value!r}, it must be a number", hint=f"unset {name}")
    return int(value or 0)


_KNOWN = (
    "known: ignore (list of patterns), max_file_bytes (number), include_hidden, include_vendored,"
    " include_generated (true or false; a project file can only say false); in the user file also query_log"
)
