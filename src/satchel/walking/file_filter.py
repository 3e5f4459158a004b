"""Decide which of the files that a walk meets belong to the segment. Every walk uses the same filter.

Each folder is decided once. What is left out is reported at its top folder: one line for `node_modules`, not
one for each file in it.
"""

from __future__ import annotations

import re

from satchel.settings import WalkOptions
from satchel.types import FileEntry, Skipped, SkipReason
from satchel.walking.own_output import is_own_path
from satchel.walking.sensitive_names import sensitive_last_folder, sensitive_name, without_tokens

# Files with hidden names that are indexed: they say how the project is built, tested and released, and what
# its issue forms ask, which is none of what a report says.
_BUILD_FILES = frozenset(
    {
        ".appveyor.yml",
        ".cirrus.yml",
        ".drone.yml",
        ".github/ISSUE_TEMPLATE.md",
        ".github/issue_template.md",
        ".gitlab-ci.yml",
        ".goreleaser.yaml",
        ".goreleaser.yml",
        ".pre-commit-config.yaml",  # the checks that a change has to pass
        ".readthedocs.yaml",
        ".readthedocs.yml",
        ".travis.yml",
    }
)
_BUILD_FOLDERS = (
    ".github/workflows",
    ".github/actions",
    ".github/ISSUE_TEMPLATE",
    ".circleci",
    ".gitlab/ci",
    ".gitlab/issue_templates",
    ".buildkite",
)

_VENDORED = {
    "node_modules": "npm packages",
    "bower_components": "Bower packages",
    "jspm_packages": "jspm packages",
    ".yarn": "Yarn's releases and cache",
    "site-packages": "Python packages",
    "dist-packages": "Debian's Python packages",
    "_vendor": "packages carried by pip and setuptools",
    "vendor": "dependencies, as Go, PHP and Ruby keep them",
    "vendored": "dependencies",
    "third_party": "dependencies",
    "thirdparty": "dependencies",
    "third-party": "dependencies",
    "Pods": "CocoaPods",
    "Carthage": "Carthage frameworks",
}
_GIT_FOLDER = ".git"  # never part of a segment, and never reported
# Control characters and line ends would break every line-based output; a backslash means `/` in requests.
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\\\u2028\u2029\ud800-\udfff]|^\.\.?$")
_UNUSABLE_DETAIL = "the name cannot be written in a request or on one line"
# Only with these reasons may a name contain a token. A file skipped for another reason has passed the rules
# for sensitive names.
_UNSEEN_NAMES = frozenset((SkipReason.SENSITIVE, SkipReason.UNSUPPORTED_NAME, SkipReason.UNREADABLE))
_Verdict = tuple[SkipReason, str]
_SILENT = Skipped("", SkipReason.HIDDEN)  # left out without a report


_MINIFIED_NAMES = (
    ".min.js",
    ".min.mjs",
    ".min.css",
    ".bundle.js",
    ".js.map",
    ".css.map",
    ".mjs.map",
    ".ts.map",
)
# `ai` are drawings of Adobe Illustrator, some of them readable in part.
# fmt: off
_BINARY_SUFFIXES = frozenset({
    "7z", "a", "ai", "avi", "avif", "bin", "bmp", "bz2", "class", "dll", "dylib", "eot", "exe", "flac",
    "gif", "gz", "icns", "ico", "jar", "jpeg", "jpg", "lib", "mkv", "mo", "mov", "mp3", "mp4", "npy",
    "npz", "o", "obj", "ogg", "otf", "pdf", "pickle", "pkl", "png", "pyc", "pyd", "pyo", "so", "sqlite",
    "sqlite3", "tar", "tgz", "tif", "tiff", "ttf", "wasm", "wav", "webm", "webp", "whl", "woff",
    "woff2", "xls", "xlsx", "xz", "zip", "zst",
})
# fmt: on
# Translation catalogues repeat each sentence of the sources once per language.
_CATALOGUES = (".po", ".pot", ".xlf", ".xliff")
_GENERATED_NAMES = re.compile(
    r"_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw|\.validate)?\.(?:go|cc|h|swift|dart)$|\.pbobjc\.[hm]$"
    r"|\.(?:g|freezed|mocks)\.dart$|\.(?:designer|g|g\.i|generated)\.(?:cs|vb)$|^zz_generated\..*\.go$"
    r"|\.generated\.(?:ts|js|go|rs|h|cpp)$|\.prebuilt$",
    re.IGNORECASE,
)


class FileFilter:
    """Collects the files of one walk that belong, and those left out with their reasons."""

    def __init__(self, options: WalkOptions) -> None:
        self._options = options
        self._cap = options.max_file_bytes
        self._folders: dict[str, Skipped | None] = {"": None}
        self._counts: dict[str, int] = {}
        self._names: dict[str, _Verdict | None] = {}  # verdicts by name, where the folder does not matter
        self.files: list[FileEntry] = []
        self.skipped: dict[str, Skipped] = {}

    def skip(self, path: str, reason: SkipReason, detail: str = "") -> None:
        """Report a path as left out. Only the first reason for a path is kept."""
        shown = printable(path) if reason in _UNSEEN_NAMES else _on_one_line(path)
        self.skipped.setdefault(shown, Skipped(shown, reason, detail))

    def enters(self, folder: str) -> bool:
        """Return whether a folder may hold files of the segment. A folder that may not is reported."""
        verdict = self._verdict(folder)
        if verdict is not None and verdict is not _SILENT:
            self.skipped.setdefault(verdict.path, verdict)
        return verdict is None

    def count_skipped(self, folder: str) -> None:
        """Count a file that lies in a folder left out, for the report on that folder."""
        verdict = self._verdict(folder)
        if verdict is not None and verdict is not _SILENT:
            self._counts[verdict.path] = self._counts.get(verdict.path, 0) + 1

    def admits(self, path: str, name: str) -> bool:
        """Return whether a file in an entered folder belongs, as far as its name tells. A file that does not
        is reported, unless we wrote it: our files come and go, and `status --skipped` tells of them."""
        if is_own_path(path, self._options.index_folder):
            return False
        # A name at the root can also be a drive, and every name below a hidden folder is hidden: there the
        # folder matters.
        alone = path != name and path[0] != "." and "/." not in path
        if alone and name in self._names:
            verdict = self._names[name]
        else:
            verdict = self._judge_file(path, name)
            if alone:
                self._names[name] = verdict
        if verdict is not None:
            self.skip(path, *verdict)
        return verdict is None

    def add(self, path: str, size: int, mtime_ns: int, ctime_ns: int = 0, inode: int = 0) -> None:
        """Add a file, or report it if it is larger than the cap."""
        if size > self._cap:
            self.skip(path, SkipReason.TOO_LARGE, too_large(size, self._cap))
        else:
            self.files.append(FileEntry(path, size, mtime_ns, ctime_ns, inode))

    def sorted_skips(self) -> list[Skipped]:
        """Return everything left out, by path, with the number of files where it is known."""
        skipped = [self.skipped[path] for path in sorted(self.skipped)]
        return list(map(self._with_count, skipped)) if self._counts else skipped

    def _with_count(self, skipped: Skipped) -> Skipped:
        """Return a report with the number of files of its folder added to its detail."""
        count = self._counts.get(skipped.path)
        if not count:
            return skipped
        files = f"{count} file{'s' if count > 1 else ''}"
        detail = f"{skipped.detail}, {files}" if skipped.detail else files
        return Skipped(skipped.path, skipped.reason, detail)

    def _verdict(self, folder: str) -> Skipped | None:
        """Return why a folder is left out, None if it is entered, `_SILENT` if it is left out without a
        report."""
        known = self._folders.get(folder, _SILENT)
        if known is not _SILENT or folder in self._folders:
            return known
        parent, _, name = folder.rpartition("/")
        verdict = self._verdict(parent) or self._judge_folder(folder, name)
        self._folders[folder] = verdict
        return verdict

    def _judge_file(self, path: str, name: str) -> _Verdict | None:
        """Return the reason and the detail that leave a file out by its name, None if nothing does."""
        if _is_unusable_name(path, name):
            return SkipReason.UNSUPPORTED_NAME, _UNUSABLE_DETAIL
        rule = sensitive_name(name)
        if rule is not None:
            return SkipReason.SENSITIVE, rule
        if not self._options.include_hidden and _hidden_file(path):
            return SkipReason.HIDDEN, ""
        found = skip_by_name(path, self._options)
        return (found.reason, found.detail) if found is not None else None

    def _judge_folder(self, folder: str, name: str) -> Skipped | None:
        """Return why a folder is left out, whatever its parents are."""
        if name == _GIT_FOLDER or is_own_path(folder, self._options.index_folder):
            return _SILENT
        if _is_unusable_name(folder, name):
            return Skipped(printable(folder), SkipReason.UNSUPPORTED_NAME, _UNUSABLE_DETAIL)
        rule = sensitive_last_folder(folder)
        if rule is not None:
            return Skipped(printable(folder), SkipReason.SENSITIVE, rule)
        if name in _VENDORED and not self._options.include_vendored:
            return Skipped(folder, SkipReason.VENDORED, _VENDORED[name])
        if not self._options.include_hidden and _hidden_folder(folder):
            return Skipped(folder, SkipReason.HIDDEN)
        return None


def _is_unusable_name(path: str, name: str) -> bool:
    """Return whether a name cannot be written in a request or on one line of output."""
    if name.isprintable() and "\\" not in name and name[0] != "." and name[1:2] != ":":
        return False  # the fast path for nearly every name
    drive = path == name and name[0].isascii() and name[0].isalpha() and name[1:2] == ":"
    return drive or _UNUSABLE.search(name) is not None


def _from_hidden(path: str) -> str:
    """Return the part of a path from its first hidden component on, empty if there is none."""
    if path[0] == ".":
        return path
    start = path.find("/.") + 1
    return path[start:] if start else ""


def _hidden_file(path: str) -> bool:
    """Return whether a file is hidden and says nothing about how the project is built."""
    hidden = _from_hidden(path)
    return bool(hidden) and hidden not in _BUILD_FILES and not _in_build_folder(hidden)


def _hidden_folder(folder: str) -> bool:
    """Return whether a folder is hidden and leads to no folder with build files."""
    hidden = _from_hidden(folder)
    if not hidden or _in_build_folder(hidden):
        return False
    return not any(kept.startswith(hidden + "/") for kept in _BUILD_FOLDERS)


def _in_build_folder(hidden: str) -> bool:
    return any(hidden == kept or hidden.startswith(kept + "/") for kept in _BUILD_FOLDERS)


def printable(path: str) -> str:
    """Return a path that can be shown on one line: tokens masked, other unprintable characters as backslash
    escapes."""
    return _on_one_line(without_tokens(path))


def _on_one_line(path: str) -> str:
    return path if path.isprintable() or not _UNUSABLE.search(path) else "".join(map(_escaped, path))


def _escaped(character: str) -> str:
    """Return one character of a path as it is shown."""
    # Python represents a byte that is not UTF-8 as such a character.
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def too_large(size: int, cap: int) -> str:
    """Return the detail of a report on a file over the cap."""
    return f"{size} bytes, the cap is {cap}"


def skip_by_name(path: str, options: WalkOptions) -> Skipped | None:
    """Return the report on a file that is left out by its name, so that it is not read; None for any other
    file."""
    name = path.rpartition("/")[2].lower()
    if name.rpartition(".")[2] in _BINARY_SUFFIXES and "." in name:
        return Skipped(path, SkipReason.BINARY, "by its name")
    if name.endswith(_MINIFIED_NAMES):
        return Skipped(path, SkipReason.MINIFIED, "by its name")
    if options.include_generated:
        return None
    if name.endswith(_CATALOGUES):
        return Skipped(path, SkipReason.GENERATED, "a translation catalogue, extracted from the sources")
    if name.count(".") < 2 and "_pb2" not in name and not name.endswith(".prebuilt"):
        return None  # the fast path for nearly every name
    return Skipped(path, SkipReason.GENERATED, "by its name") if _GENERATED_NAMES.search(name) else None
