"""What must never be trained on: is this package, or this file of it, a repository of the forbidden list?

Names are compared without case, separators and `js`/`py` endings, so `immutable-js`, `Immutable` and
`immutable_js` are one. A copy inside another package is found by its folders and its licence notices.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

LIST = Path(__file__).parent / "never_train_on.txt"
# what a forbidden repository publishes or keeps a fork of under another name than its own
ALIASES = """
abseil absl actioncable actionmailbox actionmailer actionpack actiontext actionview activejob activemodel
activerecord activestorage activesupport alifd ansible-core astroid automattic bpmn calypso
carbon-components commons-lang3 fmtlib gh hljs illuminate jackson jackson2-core jackson2-databind jenkins-ci
json-hpp langchain-core libcurl libnginx-mod libzstd mui newtonsoft newtonsoft-json nlohmann nlohmann-json
ol p5 pdfkit pydantic-core query-core railties react-query rxjava3 sklearn solid-query svelte-query
tanstack-query vue vue-query ziglang
"""
# too common to mean a copy in a package's or a file's name; such folders are left out all the same
_GENERIC = "book cli core dataframe experiments framework json next query shadow three"
GENERIC = frozenset(_GENERIC.split())
# who holds the copyright of a forbidden repository and of little else: finds copies under other names
HOLDERS = re.compile(
    rb"Victor Zverovich|Niels Lohmann|Abseil Authors|Daniel Stenberg|Salvatore Sanfilippo|Joyent, Inc"
    rb"|libuv project contrib|Prometheus Authors|Evan You|Kenneth Reitz|Django Software Foundation"
    rb"|three\.js authors|SymPy Development Team|James Newton-King|Stephen Dolan|scikit-learn developers"
    rb"|Alan Cruickshank|AQR Capital|Camunda Services|Chart\.js Contributors|chartjs\.org|Igor Sysoev"
    rb"|Nginx, Inc|Ivan Sagalaev|highlight\.js (?:maintain|contrib)|Kohsuke Kawaguchi|Lea Verou"
    rb"|Lighthouse Authors|marked - a markdown parser|Nicholas C\. Zakas|OpenLayers Contributors"
    rb"|ORT Project Authors|Posit Software, PBC|Processing Foundation|PyData Development Team"
    rb"|pydicom authors|PyVista Developers|Traefik Labs"
)
HEAD = 2000  # bytes in which a licence notice stands
VERSION = re.compile(r"(?<=..)(?:[-_.]v?)?\d[\d.]*$")  # `p5` is a name
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


@cache
def package_is_forbidden(name: str) -> bool:
    """Any run of the name's parts counts: `golang-github-spf13-cobra`, `@vitest/ui`, `libgson-java`."""
    parts = [part for part in SEPARATORS.split(name.lower()) if part]
    if parts and parts[0].startswith("lib") and len(parts[0]) > 4:
        parts[0] = parts[0][3:]
    runs = (parts[i:j] for i in range(len(parts)) for j in range(i + 1, len(parts) + 1))
    names = {normalised("-".join(run)) for run in runs} - GENERIC
    return normalised(name) in forbidden() or not names.isdisjoint(forbidden())


def path_is_forbidden(path: str) -> bool:
    """A folder named as a forbidden package would be, or a file whose name without suffix is forbidden."""
    *folders, file_name = path.split("/")
    stem = normalised(file_name.partition(".")[0])
    if file_name == "json.hpp" or (stem in forbidden() and stem not in GENERIC):
        return True
    return any(map(package_is_forbidden, folders))


def content_is_forbidden(content: bytes) -> bool:
    """A licence notice at the head names the holder of a forbidden repository."""
    return HOLDERS.search(content, 0, HEAD) is not None
