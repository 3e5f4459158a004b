"""What must never be trained on: is this package, or this file of it, a repository of the forbidden list?

Names are compared without case, separators and `js`/`py` endings, so `immutable-js`, `Immutable` and
`immutable_js` are one. A copy inside another package is found by its folders and its licence notices.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

LIST = Path(__file__).parent / "never_train_on.txt"
# what a forbidden repository publishes under another name than its own
ALIASES = """
abseil absl actioncable actionmailbox actionmailer actionpack actiontext actionview activejob activemodel
activerecord activestorage activesupport ansible-core astroid commons-lang3 fmtlib gh illuminate jackson
jackson2-core jackson2-databind json-hpp langchain-core libcurl libzstd mui newtonsoft newtonsoft-json
nlohmann nlohmann-json pydantic-core railties rxjava3 sklearn vue ziglang
"""
# too common to mean a copy in a package's or a file's name; such folders are left out all the same
GENERIC = frozenset({"core", "cli", "json", "framework", "experiments", "three"})
# who holds the copyright of a forbidden repository and of little else: finds copies under other names
HOLDERS = re.compile(
    rb"Victor Zverovich|Niels Lohmann|Abseil Authors|Daniel Stenberg|Salvatore Sanfilippo|Joyent, Inc"
    rb"|libuv project contrib|Prometheus Authors|Evan You|Kenneth Reitz|Django Software Foundation"
    rb"|three\.js authors|SymPy Development Team|James Newton-King|Stephen Dolan|scikit-learn developers"
)
HEAD = 2000  # bytes in which a licence notice stands
VERSION = re.compile(r"(?:[-_.]v?)?\d[\d.]*$")
SEPARATORS = re.compile(r"[-_.+/@]+")


def normalised(name: str) -> str:
    """`Three.js` → `three`, `jackson-core-2.1` → `jacksoncore`."""
    bare = SEPARATORS.sub("", VERSION.sub("", name.lower()))
    return re.sub(r"(?<=..)(?:js|py)$", "", bare)


@cache
def forbidden() -> frozenset[str]:
    """The repositories' names and their aliases, normalised."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    repositories = [line.rpartition("/")[2] for line in lines if line and not line.startswith("#")]
    return frozenset(normalised(name) for name in (*repositories, *ALIASES.split()))


def package_is_forbidden(name: str) -> bool:
    """Any run of the name's parts counts: `golang-github-spf13-cobra`, `@vitest/ui`, `libgson-java`."""
    parts = [part for part in SEPARATORS.split(name.lower()) if part]
    if parts and parts[0].startswith("lib") and len(parts[0]) > 4:
        parts[0] = parts[0][3:]
    runs = (parts[i:j] for i in range(len(parts)) for j in range(i + 1, len(parts) + 1))
    names = {normalised("-".join(run)) for run in runs} - GENERIC
    return normalised(name) in forbidden() or not names.isdisjoint(forbidden())


def path_is_forbidden(path: str) -> bool:
    """A folder named like a forbidden repository, or a file whose name without suffix is."""
    *folders, file_name = path.split("/")
    stem = normalised(file_name.partition(".")[0])
    if file_name == "json.hpp" or (stem in forbidden() and stem not in GENERIC):
        return True
    return any(normalised(folder) in forbidden() for folder in folders)


def content_is_forbidden(content: bytes) -> bool:
    """A licence notice at the head names the holder of a forbidden repository."""
    return HOLDERS.search(content, 0, HEAD) is not None
