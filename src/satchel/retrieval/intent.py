"""What kind of answer does a query ask for?

Intents are soft and several hold at once: they tilt the ranking, they never exclude a kind of file.
"""

from __future__ import annotations

import re
from enum import StrEnum

from satchel.retrieval.query import Query


class Intent(StrEnum):
    """A kind of answer that a query can ask for."""

    IDENTIFIER = "identifier"
    PATH = "path"
    ERROR = "error"
    DOCUMENTS = "documents"
    TESTS = "tests"
    CONFIG = "config"
    CONCEPT = "concept"


_PROSE_READ = 4000  # characters; what comes later in an issue seldom says what it is about
_IN_PROSE = 0.3  # what a word in the body of an issue is worth against a word in its title
_NAMED = 0.8  # what the name of a thing of that kind is worth
WEAK = 0.5  # what a word is worth that often means something else
_NAME_IN_TITLE = 0.3  # the least for a name in the title; the share of names is added
_NAME_IN_BODY = 0.2
_CODE_IN_BODY = 0.2

# For each intent the sure words, then words that often mean something else; whole words of lower-case text.
_HOW_TO = (  # questions of a user, which documents answer
    r"how (?:to|(?:do|can|should) (?:i|we|you)) (?:install|contribute|configure|set ?up|enable|disable"
    r"|upgrade|migrate|deploy)"
)
_DOCUMENTS = (
    r"readme|changelog|change log|release notes|tutorials?|documentation|docs|getting started|quick ?start"
    r"|doc(?! (?:comments?|strings?))"
    r"|(?:user|migration|style) guide|contributing|faq|licen[cs]e|installation"
    rf"|(?:issue|pull request|pr) templates?|{_HOW_TO}",
    r"guides?|examples?|documented|manual|upgrading|usage",
)
_TESTS = (
    r"tests|(?:unit|integration|regression|end to end|e2e|acceptance|smoke|snapshot) test\w*|unittests?"
    r"|test (?:for|of|that|covers?|covering|files?|cases?|suites?|data|coverage|fixtures?)|testcases?"
    r"|fixtures?|benchmarks?|conftest|specs|tested",
    r"test|spec|testing|mocks?|mocked|stubs?|benchmarking",
)
_CONFIG = (
    r"(?:config\w*|settings|manifest|lock|build|workflow|compose|env) files?|lockfile|dockerfile|makefile"
    r"|docker compose|ci|github (?:actions|workflows?)|travis|circleci|appveyor|azure pipelines|pyproject"
    r"|package json|tsconfig|editorconfig|gitignore|pre commit"
    r"|how (?:to|(?:do|can|should) (?:i|we|you)) configure",
    r"config|configs|configuration|settings?|pipelines?|workflows?|manifest|toml|ya?ml|ini"
    r"|environment variables?",
)
_ERRORS = (
    r"traceback|stack ?trace|crash|crashes|crashed|panics|panicked|segfaults?|segmentation fault",
    r"errors?|exceptions?|fails|failed|failing|failure|bugs?|broken|breaks|raises|throws|thrown|wrong|wrongly"
    r"|incorrect|incorrectly|unexpected|unexpectedly|regression",
)
_PATHS = {  # what the path of a mentioned file says
    Intent.DOCUMENTS: r"(?:^|/)(?:docs?|documentation|guides?)/|\.(?:md|mdx|rst|markdown)$",
    Intent.TESTS: r"(?:^|/)(?:tests?|specs?|__tests__|fixtures)/|(?:^|/)test_[^/]*+$|[._](?:test|spec)\.\w+$",
    Intent.CONFIG: r"\.(?:toml|ya?ml|ini|cfg|json|lock)$|file$",
}
_ERROR_NAME = r"[A-Z]\w*?(?:Error|Exception)$"
_TEST_NAME = r"test_\w|\w*?(?:_tests?$|[a-z0-9]Tests?$|_spec$|[a-z0-9]Spec$)|Test[A-Z]"


def detect_intents(query: Query) -> dict[Intent, float]:
    """Return how strongly a query asks for each kind of answer, from 0 to 1."""
    title, prose = _plain(query.title), _plain(query.prose)
    found = {
        Intent.IDENTIFIER: _identifier(query),
        Intent.PATH: _path(query),
        Intent.ERROR: 1.0 if query.frames else max(_words(title, prose, _ERRORS), _named(query, _ERROR_NAME)),
        Intent.DOCUMENTS: _words(title, prose, _DOCUMENTS),
        Intent.TESTS: max(_words(title, prose, _TESTS), _named(query, _TEST_NAME)),
        Intent.CONFIG: _words(title, prose, _CONFIG),
    }
    for kind, pattern in _PATHS.items():
        if any(re.search(pattern, mention.path) for mention in query.mentions):
            found[kind] = max(found[kind], found[Intent.PATH])
    return {**found, Intent.CONCEPT: _concept(query, found)}


def _identifier(query: Query) -> float:
    """Return how much of a query is identifiers."""
    if query.symbol:
        return 1.0
    if query.title_names:
        share = len(query.title_names) / max(len(query.title.split()), 1)
        return min(1.0, _NAME_IN_TITLE + share)
    return _NAME_IN_BODY * bool(query.prose_names) + _CODE_IN_BODY * bool(query.code_names)


def _path(query: Query) -> float:
    """Return 1 for a query that is only a path, less for a path in the title, least for one in the text."""
    named = [mention.path.rpartition("/")[2] for mention in query.mentions]
    if not named:
        return 0.0
    if not query.prose and not query.code and " " not in query.title:
        return 1.0
    title = query.title.replace("\\", "/")
    return 0.8 if any(name in title for name in named) else 0.4


def _plain(text: str) -> str:
    """Return the lower-case words of the start of a text."""
    return " ".join(re.findall(r"[^\W_]++", text[:_PROSE_READ].lower()))


def _words(title: str, prose: str, lists: tuple[str, str]) -> float:
    """Return the strength of the strongest listed word in the title, or weaker in the prose. Code is not
    read: it names its own things."""
    return max(_strength(title, lists), _IN_PROSE * _strength(prose, lists))


def _strength(plain: str, lists: tuple[str, str]) -> float:
    """Return the strength of the strongest listed word in a text."""
    for words, strength in zip(lists, (1.0, WEAK), strict=True):
        if re.search(rf"\b(?:{words})\b", plain):
            return strength
    return 0.0


def _named(query: Query, form: str) -> float:
    """Return how strongly an identifier of that form is named: in the title, or weaker in the prose."""
    if any(re.match(form, name) for name in query.title_names):
        return _NAMED
    return _IN_PROSE * any(re.match(form, name) for name in query.prose_names)


def _concept(query: Query, found: dict[Intent, float]) -> float:
    """Return how much a query is plain prose: the less it names, the more it is about an idea."""
    if query.symbol or found[Intent.PATH] == 1.0 or not query.title:
        return 0.0
    return 1.0 - 0.7 * max(found[Intent.IDENTIFIER], found[Intent.PATH], WEAK * found[Intent.ERROR])
