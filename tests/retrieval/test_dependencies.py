"""The import statements that a passage of a file needs."""

from __future__ import annotations

import pytest

from satchel.chunking import parse_source
from satchel.lines import split_lines
from satchel.retrieval.dependencies import import_statements, needed_imports

PYTHON = """import re
import numpy as np
from .models import (
    Request,
    TooManyRedirects,
)
from .urls import \\
    parse

def main():
    from .late import helper
"""
SCRIPT = """import {
  open,
  close,
} from './router'
const fs = require('fs')
function f(
  a = require('path'),
) {}
"""


def imports_of(text: str, language: str, content: str) -> list[str]:
    parsed = parse_source(text, language)
    return needed_imports(import_statements(parsed.all_references(), split_lines(text)), content)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("raise TooManyRedirects(x)", ["from .models import (\n    Request,\n    TooManyRedirects,\n)"]),
        ("request = core_request", []),
        ("re.match(x)", ["import re"]),
        ("np.zeros(3)", ["import numpy as np"]),
        ("parse(x)", ["from .urls import \\\n    parse"]),
        ("helper()", ["from .late import helper"]),
        ("import re\nre.match(x)", []),
    ],
)
def test_a_statement_is_whole_and_needed_for_a_whole_name(content: str, wanted: list[str]) -> None:
    assert imports_of(PYTHON, "python", content) == wanted


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("router.open()", ["import {\n  open,\n  close,\n} from './router'"]),
        ("fs.read()", ["const fs = require('fs')"]),
        ("path.join()", ["a = require('path'),"]),
    ],
)
def test_a_statement_ends_where_its_brackets_do(content: str, wanted: list[str]) -> None:
    assert imports_of(SCRIPT, "javascript", content) == wanted
