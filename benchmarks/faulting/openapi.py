"""The published HTTP interface under a tool that reads nothing but its document: is any answer a 5xx, or not
what the document says?

    python benchmarks/faulting/openapi.py [--examples 300] [--seed 1] [--operation PATH]…

Each operation of the OpenAPI document gets so many requests from schemathesis, half of them such as the
document forbids. A run of all operations keeps its figures in results/openapi.txt.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS), str(TESTS / "serving")]

import schemathesis  # noqa: E402
from builders import SHOP, git_repo  # noqa: E402
from http_server import Server, serving  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.core.failures import FailureGroup  # noqa: E402
from schemathesis.generation import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from satchel.serving.http import openapi  # noqa: E402

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
RESULTS = HERE.parent / "results" / "openapi.txt"
_SECONDS = 60  # for one answer of a busy machine


def run_operation(
    operation: schemathesis.APIOperation, server: Server, examples: int, start: int
) -> list[str]:
    """Send so many requests to one operation; return a sentence for each way in which an answer was wrong."""
    wrong: Counter[str] = Counter()

    def ask(case: schemathesis.Case) -> None:
        try:
            case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=_SECONDS)
        # Every check that does not hold, which come as a group, and a server that does not answer.
        except (Exception, FailureGroup) as error:
            failures = error.exceptions if isinstance(error, FailureGroup) else [error]
            told = " ".join(" ".join(str(one) for one in failures).split())
            wrong[f"{told[:300]} body {repr(case.body)[:200]}"] += 1

    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        cases: st.SearchStrategy[schemathesis.Case] = operation.as_strategy(generation_mode=mode)
        chosen = settings(
            max_examples=max(1, examples // 2),
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        with suppress(Unsatisfiable):  # what takes nothing cannot be given something that is forbidden
            seed(start)(chosen(given(cases)(ask)))()
    return [f"{operation.label}: {text}" for text in wrong]


def run(
    examples: int, start: int, names: Sequence[str], tell: Callable[[str], None]
) -> tuple[dict[str, int], list[str]]:
    """Try every operation, or those of some paths; how many requests each had, and all that was wrong."""
    requests: dict[str, int] = {}
    wrong: list[str] = []
    schema = schemathesis.openapi.from_dict(json.loads(openapi.text()))
    with tempfile.TemporaryDirectory() as name:
        root = git_repo(Path(name) / "shop", SHOP)
        with serving(root, "--workers", "1") as server:
            server.command("index")
            for result in schema.get_all_operations():
                operation = result.ok()
                if names and operation.path not in names:
                    continue
                found = run_operation(operation, server, examples, start)
                requests[operation.label] = examples
                wrong += found
                tell(f"{operation.label}: {examples} requests, {len(found)} wrong")
    return requests, wrong


def main() -> int:
    """Try the operations and print what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--examples", type=int, default=300, help="requests to each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operation", action="append", default=[], metavar="PATH")
    options = parser.parse_args()
    lines: list[str] = []

    def tell(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    requests, wrong = run(options.examples, options.seed, options.operation, tell)
    figures = f"{len(requests)} operations, {sum(requests.values())} requests, {len(wrong)} wrong"
    print(figures, *wrong[:30], sep="\n")
    if not options.operation:
        RESULTS.write_text("\n".join([figures, "", *lines]) + "\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
