"""The official conformance suite of MCP against `satchel serve mcp`: does every scenario that can apply pass?

    python benchmarks/faulting/conformance.py [--cache FOLDER]

Installs the npm package @modelcontextprotocol/conformance, and the Node that it needs, into the cache. A
scenario passes, or is explained in the table below by what its checks say; one that fails in any other way
is wrong, and so is an explanation of a scenario that passes. How each ended is kept in
results/conformance.txt.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS), str(TESTS / "serving")]

import surfaces  # noqa: E402
from builders import SHOP, make_tree  # noqa: E402
from corpora import default_cache  # noqa: E402

RESULTS = HERE.parent / "results" / "conformance.txt"
PACKAGES = ("@modelcontextprotocol/conformance@0.1.16", "node@22")
_PROGRAM = Path("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
_NODE = Path("node_modules", "node", "bin", "node")
_SECONDS = 300  # for all scenarios; they take two
_SHOWN = 300  # characters of a line of the suite: its errors quote whole bundles


class Explained(NamedTuple):
    """Why a scenario cannot apply, the words by which its failing check says so, and the capability that the
    server must not declare for this to be right."""

    why: str
    said: str
    absent: tuple[str, ...] = ()


def _fixture(kind: str, name: str) -> Explained:
    return Explained(f"it asks for the {kind} {name}, which only the suite's own server has", name)


def _undeclared(*capability: str) -> Explained:
    why = f"the server does not declare {'.'.join(capability)}, which is optional"
    return Explained(why, "Method not found", capability)


_NO_SESSION = Explained(
    "the server keeps no session and no stream to resume, both optional: each answer is whole", "session ID"
)

EXPLAINED: Mapping[str, Explained] = {
    "logging-set-level": _undeclared("logging"),
    "tools-call-with-logging": _undeclared("logging"),
    "completion-complete": _undeclared("completions"),
    "resources-subscribe": _undeclared("resources", "subscribe"),
    "resources-unsubscribe": _undeclared("resources", "subscribe"),
    "server-sse-polling": _NO_SESSION,
    "server-sse-multiple-streams": _NO_SESSION,
    "tools-call-simple-text": _fixture("tool", "test_simple_text"),
    "tools-call-image": _fixture("tool", "test_image_content"),
    "tools-call-audio": _fixture("tool", "test_audio_content"),
    "tools-call-embedded-resource": _fixture("tool", "test_embedded_resource"),
    "tools-call-mixed-content": _fixture("tool", "test_multiple_content_types"),
    "tools-call-error": _fixture("tool", "test_error_handling"),
    "tools-call-with-progress": _fixture("tool", "test_tool_with_progress"),
    "tools-call-sampling": _fixture("tool", "test_sampling"),
    "tools-call-elicitation": _fixture("tool", "test_elicitation"),
    "elicitation-sep1034-defaults": _fixture("tool", "test_elicitation_sep1034_defaults"),
    "elicitation-sep1330-enums": _fixture("tool", "test_elicitation_sep1330_enums"),
    "json-schema-2020-12": _fixture("tool", "json_schema_2020_12_tool"),
    "resources-read-text": _fixture("resource", "test://static-text"),
    "resources-read-binary": _fixture("resource", "test://static-binary"),
    "resources-templates-read": _fixture("resource", "test://template/123/data"),
    "prompts-get-simple": _fixture("prompt", "test_simple_prompt"),
    "prompts-get-with-args": _fixture("prompt", "test_prompt_with_arguments"),
    "prompts-get-embedded-resource": _fixture("prompt", "test_prompt_with_embedded_resource"),
    "prompts-get-with-image": _fixture("prompt", "test_prompt_with_image"),
}
_HELD = ("SUCCESS", "INFO")
_DATE = re.compile(r"-\d{4}-\d\d-\d\dT.*")


def install(cache: Path) -> Path:
    """Return the folder with the suite in it, installed once; its scripts bring the binary of Node."""
    folder = cache / "mcp-conformance"
    if not (folder / _PROGRAM).is_file() or not (folder / _NODE).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"npm install: exit {done.returncode}\n{_cut(done.stderr)}")
    return folder


def run_suite(suite: Path, url: str, results: Path) -> dict[str, list[dict[str, Any]]]:
    """Run every scenario for servers; return the checks of each."""
    words = ["server", "--suite", "all", "--url", url, "--output-dir", str(results)]
    done = subprocess.run(
        [str(suite / _NODE), str(suite / _PROGRAM), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    found = {}
    for file in sorted(results.glob("*/checks.json")):
        found[scenario_of(file.parent.name)] = json.loads(file.read_text())
    if not found:
        raise SystemExit(f"the suite ran no scenario\n{_cut(done.stdout + done.stderr)}")
    return found


def scenario_of(folder: str) -> str:
    """Return the scenario whose results the suite put into a folder of this name, which ends in a time."""
    return _DATE.sub("", folder).removeprefix("server-")


def capabilities(server: surfaces.Server) -> Any:
    """Return what a server declares to a client that greets it."""
    client = {"name": "conformance", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    connection = http.client.HTTPConnection(server.host, server.port, timeout=_SECONDS)
    connection.request("POST", "/mcp", json.dumps(message), headers)
    said = connection.getresponse().read().decode()
    connection.close()
    return json.loads(said[said.index("{") :])["result"]["capabilities"]


def judge(name: str, checks: list[dict[str, Any]], declared: Any) -> tuple[str, str]:
    """Say how a scenario ended: passed, explained or wrong; and why."""
    open_checks = [check for check in checks if check["status"] not in _HELD]
    explained = EXPLAINED.get(name)
    if not open_checks:
        if explained is not None and any(check["status"] == "SUCCESS" for check in checks):
            return "wrong", "it passes: its explanation must go"
        return ("passed", "") if explained is None else ("explained", explained.why)
    told = [
        f"{check.get('errorMessage') or ''} {check.get('details') or ''}"[:_SHOWN] for check in open_checks
    ]
    if explained is None or explained.said not in " ".join(told):
        return "wrong", "; ".join(told)
    for step in explained.absent:
        declared = declared.get(step) if isinstance(declared, dict) else None
    if explained.absent and declared not in (None, False):  # an empty object declares it
        return "wrong", f"{'.'.join(explained.absent)} is declared; {told[0]}"
    return "explained", explained.why


def run(cache: Path, tell: Callable[[str], None]) -> tuple[Counter[str], list[str]]:
    """Ask a fresh server every scenario; how many ended how, and a sentence for each that is wrong."""
    suite = install(cache)
    ends: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        root = make_tree(Path(name) / "shop", SHOP)
        with surfaces.serving("mcp", root) as server:
            declared = capabilities(server)
            found = run_suite(suite, f"http://{server.host}:{server.port}/mcp", Path(name) / "results")
    for scenario, checks in found.items():
        end, why = judge(scenario, checks, declared)
        ends[end] += 1
        tell(f"{scenario:32} {end:9} {why}".rstrip())
        wrong += [f"{scenario}: {why}"] if end == "wrong" else []
    wrong += [f"{name}: it is explained and was not run" for name in EXPLAINED.keys() - found.keys()]
    return ends, wrong


def _cut(text: str) -> str:
    return "\n".join(line[:_SHOWN] for line in text.splitlines()[-20:])


def main() -> int:
    """Run the suite, print how each scenario ended, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cache", type=Path, default=default_cache())
    options = parser.parse_args()
    lines: list[str] = []
    ends, wrong = run(options.cache, lines.append)
    figures = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    text = "\n".join([f"{PACKAGES[0]}: {figures}", "", *lines]) + "\n"
    print(text, *wrong, sep="\n")
    RESULTS.write_text(text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
