"""A text search finds every line that a plain scan finds, whatever the words of the index say."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from builders import make_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel import Engine
from satchel.errors import InvalidQuery
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.filters import Filters
from satchel.retrieval.text_matches import find_text
from satchel.retrieval.text_pattern import PatternOptions, TextPattern
from satchel.retrieval.text_scan import are_among, candidate_files, content_of, matching_lines

FILES = {
    "app/cart.py": (
        "class RouterGroup:\n    def getUserById(self):\n        raise ValueError('Recipe not found: %s')\n"
        "        running = 0xdeadbeef + 3 # 2nd try, 1234567 items\n"
    ),
    "app/crlf.py": "def one():\r\n    return 'Recipe not found'\r\n\r\nlast = 1\r\n",
    "docs/guide.md": "# Guide\n\nThe “Recipe” is not found. Straße, naïve café, 漢字abc und ROUTERGROUP\n",
    "old.c": "int routergroup_size(void) {\r  return kmalloc_array(2);\r}\r",
    "data.txt": "x" * 200 + " Recipe\n_private __dunder__ snake_case_name eRRor Error ERROR\n",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    engine = Engine.open(make_tree(tmp_path_factory.mktemp("scan") / "tree", FILES))
    engine.refresh()
    return engine.corpus()


def contents(corpus: Corpus) -> dict[int, str]:
    return {at: content_of(corpus, at).decode() for at in range(len(corpus.files))}


def check(corpus: Corpus, text: str, options: PatternOptions) -> None:
    """Compare the candidates of a pattern with the files in which Python's own search finds it."""
    expression = text if options.regex else re.escape(text)
    if options.word and not options.regex:
        before = r"(?<!\w)" if re.match(r"\w", text[0]) else ""
        expression = f"{before}{expression}" + (r"(?!\w)" if re.match(r"\w", text[-1]) else "")
    flags = re.MULTILINE | (re.IGNORECASE if options.ignore_case else 0)
    flags |= re.ASCII if options.ignore_case and not options.regex else 0
    pattern = TextPattern(text, options)
    candidates = candidate_files(corpus, pattern.required)
    for at, content in contents(corpus).items():
        found = [content.count("\n", 0, hit.start()) + 1 for hit in re.finditer(expression, content, flags)]
        lines = [line for line, _, _ in matching_lines(pattern, content.encode())]
        assert lines == list(dict.fromkeys(found)), (text, options)
        assert pattern.count(content.encode()) == len(found)
        assert not found or candidates is None or candidates[at], (text, options, corpus.files[at].path)


@st.composite
def pieces(draw: st.DrawFn) -> str:
    """A piece of one line of the files, whole words or not."""
    line = draw(
        st.sampled_from([line for text in FILES.values() for line in re.split(r"[\r\n]+", text) if line])
    )
    start = draw(st.integers(0, len(line) - 1))
    return line[start : start + draw(st.integers(1, 40))]


@settings(max_examples=120, deadline=None)
@given(text=pieces(), ignore_case=st.booleans(), swap=st.booleans())
def test_no_line_is_missed_for_any_literal(corpus: Corpus, text: str, ignore_case: bool, swap: bool) -> None:
    if swap and ignore_case and text.isascii():
        text = text.swapcase()
    if ignore_case and not text.isascii():
        return  # Python and RE2 fold letters beyond ASCII in two ways
    check(corpus, text, PatternOptions(ignore_case=ignore_case))


@settings(max_examples=80, deadline=None)
@given(text=pieces())
def test_no_line_is_missed_for_any_whole_word(corpus: Corpus, text: str) -> None:
    check(corpus, text, PatternOptions(word=True))


@pytest.mark.parametrize(
    "expression",
    [
        r"Recipe not \w+",
        r"(Recipe|recipe) not found",
        r"(?:get|set)User\w+",
        r"^def ",
        r"Router[G]roup",
        r"(?i:routergroup)",
        r"not (found|there): %s",
        r"a{,2} Recipe",
        r"[[:alpha:]]+_size",
        r"is not found\.$",
        r"found'$",
    ],
)
def test_no_line_is_missed_for_an_expression(corpus: Corpus, expression: str) -> None:
    pattern = TextPattern(expression, PatternOptions(regex=True))
    candidates = candidate_files(corpus, pattern.required)
    for at, content in contents(corpus).items():
        assert not pattern.count(content.encode()) or candidates is None or candidates[at]


def test_words_inside_a_text_lead_to_the_files(corpus: Corpus) -> None:
    candidates = candidate_files(corpus, TextPattern(" getUserById(", PatternOptions()).required)
    assert candidates is not None
    assert [corpus.files[at].path for at in candidates.nonzero()[0]] == ["app/cart.py"]


@given(few=st.sets(st.integers(0, 99), max_size=3), many=st.sets(st.integers(0, 99)))
def test_units_are_found_in_a_list_of_any_length(few: set[int], many: set[int]) -> None:
    corpus = cast("Corpus", SimpleNamespace(file_of=np.zeros(100)))
    for asked, listed in ((few, many), (many, few)):
        units, positions = (np.array(sorted(numbers), np.int64) for numbers in (asked, listed))
        assert units[are_among(corpus, units, positions)].tolist() == sorted(asked & listed)


@pytest.mark.parametrize("text", ["", "a\nb", "x" * 1_001])
def test_a_pattern_that_cannot_be_searched_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        TextPattern(text, PatternOptions())


@pytest.mark.parametrize("expression", ["(", r"(a)\1", "(?<=a)b", "a*", "^", "x{1001}", "a)|(b"])
@pytest.mark.parametrize("word", [False, True])
def test_an_expression_that_is_no_use_is_refused(expression: str, word: bool) -> None:
    with pytest.raises(InvalidQuery):
        TextPattern(expression, PatternOptions(regex=True, word=word))


def test_a_definition_goes_before_its_uses(tmp_path: Path) -> None:
    files = {f"a{number}.py": "from core import wanted\nwanted()\n" for number in range(5)}
    root = make_tree(
        tmp_path / "tree", {**files, "core.py": "def other():\n    wanted()\n\n\ndef wanted():\n    pass\n"}
    )
    engine = Engine.open(root)
    engine.refresh()
    found = find_text(
        engine.corpus(), TextPattern("wanted", PatternOptions()), Filters(), 1_000, engine.token
    )
    first = found.groups[0]
    assert first.defines and first.symbol is not None
    assert (engine.corpus().files[first.at].path, first.lines[0].line) == ("core.py", 5)
    assert found.total == 12
