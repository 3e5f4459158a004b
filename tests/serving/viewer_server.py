"""A viewer on a repository whose content and names try to break out of the page."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from builders import SHOP, Repository, clean_environment

EVIL_NAME = "src/<img src=x onerror=alert(1)>.py"
EVIL = {
    EVIL_NAME: "def evil():\n    return '</td></table><script>window.hacked = 1</script>'\n",
    "src/evil.html": "<script>window.hacked = 1</script><svg onload='window.hacked=1'><img src=x onerror='window.hacked=1'>\n",
    "src/bidi.py": "def basket_bidi():\n    access = 'user\u202e \u2066// admin\u2069 \u2066'  # trojan\n    return access\n",
    "docs/long.md": "# Long basket\n\nbasket " + "a" * 49_000 + "\n",
    "docs/evil.md": "# Basket <script>window.hacked=1</script>\n\n</pre></main><script>window.hacked = 1</script> basket \"' onfocus=alert(1)\n",
    "src/a_name_that_is_longer_than_the_box_it_is_given_on_a_map_of_this_shop.py": "def cv(a):\n    return a\n",
    "src/short.py": (
        "from src.a_name_that_is_longer_than_the_box_it_is_given_on_a_map_of_this_shop import cv\n\n\n"
        "class AVeryLongNameOfAUserThatIsCutOnTheMap:\n    def sees(self):\n        return cv(1)\n"
    ),
    "src/keys.py": 'TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"\n\n\ndef basket_key():\n    return TOKEN\n',
}


def make_repository(root: Path) -> Path:
    """Two commits: the shop with hostile files, and a change of it."""
    repository = Repository(root)
    repository.commit("first", {**SHOP, **EVIL})
    money = str(SHOP["src/money.py"]).replace("sum(amounts) * RATE", "round(sum(amounts) * RATE)")
    repository.commit("round the till", {"src/money.py": money})
    return root


class Page(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str


class Viewer:
    """A running viewer, and a client that is signed in."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.url = url
        self.host, self.port = parts.hostname or "", parts.port or 0
        self.base = f"{parts.scheme}://{parts.netloc}"
        self.start = url.removeprefix(self.base)
        self.cookie = ""

    def sign_in(self) -> Page:
        page = self.get(self.start)
        self.cookie = page.headers.get("set-cookie", "").partition(";")[0]
        return page

    def get(
        self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET", body: str = ""
    ) -> Page:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        own = {"accept": "text/html", **({"cookie": self.cookie} if self.cookie else {})}
        try:
            connection.request(method, path, body or None, {**own, **(headers or {})})
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.headers.items()}
            return Page(response.status, told, response.read().decode("utf-8"))
        finally:
            connection.close()


@contextmanager
def viewing(root: Path | None, *words: str) -> Iterator[Viewer]:
    """`satchel view` in a process of its own, of a folder or of the library that the words name."""
    segment = ["--segment", str(root)] if root is not None else []
    process = subprocess.Popen(
        [sys.executable, "-m", "satchel", "view", *segment, "--no-browser", "--json", *words],
        env=clean_environment(),
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, "the viewer did not start"
        yield Viewer(json.loads(line)["url"])
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
