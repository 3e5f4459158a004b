"""The message of a commit → the report that it could have been written for, for `mine_fixes.py`.

Numbers of issues, trailers, links and lists of squashed commits say nothing to somebody who reports a bug:
they are cut. What is left is a report if it describes a fault, and not a repair of documents, tests or style.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from satchel.evaluation.fixes import is_other_work, screen_message
from satchel.evaluation.history import question_of, word_count

LEAST_WORDS = 4  # of a title
LEAST_BODY = 5  # words of a body; with fewer it describes nothing
MOST_CHARS = 4_000  # of a report

_NUMBER = r"(?:[\w.-]+/[\w.-]+)?(?:#|\bgh-|\bbpo-|\bGH#)\d+"
_ISSUE_LINK = r"https?://\S+/(?:issues|pull|pulls|merge_requests|browse|show_bug\.cgi|commit|ticket)\S*"
_CLOSING = r"(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)"
_CLOSES = re.compile(rf"\b{_CLOSING}:?\s+(?:issue\s+|bug\s+)?(?:{_NUMBER}|{_ISSUE_LINK})", re.IGNORECASE)
_REFERENCE = re.compile(
    rf"(?:\b(?:{_CLOSING}|refs?|see(?: also)?|re|issue|bug|pr|ticket|from|via|in|backport of)\b:?\s+)?"
    rf"[\[(]?(?:{_NUMBER}|{_ISSUE_LINK})[\])]?(?:\s*(?:,|and|&)\s*[\[(]?(?:{_NUMBER}|{_ISSUE_LINK})[\])]?)*",
    re.IGNORECASE,
)
_TYPE = re.compile(r"(?:fix(?:es|ed)?|bug(?:fix)?|hotfix)(?:\(([^)]*)\))?!?:\s*", re.IGNORECASE)
_TAG = re.compile(r"\[(?:[^\]]*\d[^\]]*|bug ?fix|fix|bug|hotfix|wip|backport)\]\s*", re.IGNORECASE)
_TICKET = re.compile(r"[\[(]?[A-Z][A-Z0-9]+-\d+[\])]?[\s:–—-]*")
_PATCH = re.compile(r"patch \d[\d.]*:?\s*")
_CUT = re.compile(r"^(?:-{3,}|#? ?conflicts?:.*|squashed commit of.*|commit [0-9a-f]{40})$", re.IGNORECASE)
_TRAILER = re.compile(
    r"\s*(?:[\w]+(?:-[\w]+)*-(?:by|on|id|url|revid|rev|to|pr|from|commit)|cc|pr|refs?|links?|bug|closes|fixes"
    r"|issue|piperorigin-revid|differential revision|test plan|reviewers?|subscribers|git-svn-id|patch by"
    r"|release[- ]notes?|\(?cherry[- ]picked|backport(?:ed)?|approved[- ]by|pull request|original commit"
    r"|category|type)\b ?:?.{0,200}",
    re.IGNORECASE,
)
_TRAILER_MARK = re.compile(r":|cherry[- ]picked|backport", re.IGNORECASE)
_LINK_LINE = re.compile(r"\W*https?://\S+\W*")
_SQUASHED = re.compile(r"\* +")
_REVERT = re.compile(r"\brevert(?:s|ed|ing)?\b", re.IGNORECASE)
# subjects about no fault of the product, beyond those that `is_other_work` knows
_CHORE = re.compile(
    r"\b(?:review|feedback|nit(?:s|pick\w*)?|merge conflicts?|rebase|re?format\w*|formatting|prettier|black"
    r"|copyright|licen[cs]e|renam(?:e|es|ed|ing)|versions? bump|changelog|flaky|coverage|dependenc(?:y|ies)"
    r"|deps|translations?|grammar|wording|jsdoc|javadoc|rustdoc|phpdoc|godoc|docstrings?|code ?style|lint\w*"
    r"|pylint|phpcs|checkstyle|sonar\w*|unused|dead code|cleanup|clean up|tidy|ci|appveyor|github actions?"
    r"|(?:unit|integration|e2e|failing|broken)[- ]tests?|tests? (?:failures?|fail\w*)|readme)\b",
    re.IGNORECASE,
)


# the subject of a commit that closes a wish rather than a fault
_WISH = re.compile(
    r"(?:[\w ,/-]+: )?(?:provide|allow|enable|new|improve|update|remove|drop|deprecate|move|extract|switch"
    r"|reduce|relax|document|create|expose|make|use|convert|simplify|optimi[sz]e|speed|initial|first|change)\w*\b",
    re.IGNORECASE,
)


class Report(NamedTuple):
    """A fault as its fix describes it. `text` begins with the title."""

    title: str
    text: str


def read_report(message: str) -> Report | None:
    """Return what a message reports; None if it describes no fault."""
    subject = message.strip().split("\n", 1)[0].strip()
    if _REVERT.search(subject) or _CHORE.search(subject) or "This reverts commit" in message:
        return None
    describes = screen_message(subject) is None
    if not describes and (_CLOSES.search(message) is None or is_other_work(subject)):
        return None
    title = _title(subject)
    if is_other_work(title) or word_count(title) < LEAST_WORDS or (not describes and _WISH.match(title)):
        return None
    body = _body(message.strip().partition("\n")[2], title)
    text = f"{title}\n\n{body}" if word_count(body) >= LEAST_BODY else title
    return Report(title, text[:MOST_CHARS].rstrip())


def _title(subject: str) -> str:
    """Return a subject without numbers of issues, tags and the kind of the commit; its scope stays."""
    left = question_of(subject)
    for pattern in (_TAG, _TICKET, _PATCH):
        while found := pattern.match(left):
            left = left[found.end() :]
    typed = _TYPE.match(left)
    if typed:
        left = (f"{typed[1]}: " if typed[1] else "") + left[typed.end() :]
    left = _REFERENCE.sub(" ", left)
    return re.sub(r"\s+", " ", left).strip(" \t-–—:;,.#()")


def _body(written: str, title: str) -> str:
    """Return the paragraphs that describe something."""
    kept: list[str] = []
    for line in question_of(written).split("\n"):
        if _CUT.match(line.strip()):
            break
        if not _is_noise(line) and _title(line.lstrip(" *")).casefold() != title.casefold():
            kept.append(_without_references(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _is_noise(line: str) -> bool:
    """Whether a line is a trailer, a bare link, or the chore of a squashed commit."""
    if _LINK_LINE.fullmatch(line) or (_TRAILER.fullmatch(line) and _TRAILER_MARK.search(line)):
        return True
    squashed = _SQUASHED.match(line)
    if squashed is None:
        return False
    said = line[squashed.end() :]
    return word_count(said) < LEAST_WORDS or is_other_work(said) or _CHORE.search(said) is not None


def _without_references(line: str) -> str:
    left = _REFERENCE.sub("", line).rstrip()
    return left if left == line or word_count(left) > 1 else ""
