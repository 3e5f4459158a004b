"""Takes the pictures of the viewer that README and docs show: pages of Django in a real browser.

    python benchmarks/viewer_pictures.py [--browser /usr/bin/chromium] [--folder FOLDER] [--index INDEX]

Django comes from the cache (see corpora.py). The pictures are kept in docs/pictures.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from corpora import default_cache, get
from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
ASKED = "where+are+sessions+stored"
PAGES: tuple[tuple[str, str, Literal["light", "dark"]], ...] = (
    ("viewer-ask.png", f"/?q={ASKED}", "light"),
    ("viewer-pack.png", f"/pack?q={ASKED}", "dark"),
    ("viewer-map.png", "/map?color=used_by", "light"),
)


def take(address: str, browser: str) -> None:
    """Take all pictures of the viewer whose address is given."""
    base = address.partition("/login")[0]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser)
        context = opened.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(address)  # signs this browser in
        for name, path, colors in PAGES:
            page.emulate_media(color_scheme=colors)
            page.goto(base + path)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=PICTURES / name)
        opened.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--browser", default=shutil.which("chromium") or "chromium", help="chromium")
    parser.add_argument("--folder", type=Path, help="where Django is, if not in the cache")
    parser.add_argument("--index", type=Path, help="a folder for its index, which is kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        where = ["-s", str(options.folder or get("django", default_cache()))]
        where += ["--index-dir", str(options.index or place)]
        command = [sys.executable, "-m", "satchel", "view", *where, "--no-browser", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                take(json.loads(process.stdout.readline())["url"], options.browser)
            finally:
                process.terminate()


if __name__ == "__main__":
    main()
