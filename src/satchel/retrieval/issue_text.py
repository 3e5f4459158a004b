"""Split a pasted issue into title, prose and code, without what only fills in a form.

Headings of issue templates, check boxes, environment sections, comments and images say nothing about the code
and are left out, and so are lines that only list versions and what a log says when all is well. The text is
read once, line by line. What the issue forms of the repository itself ask is left out before that.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

URL = r"https?://[^\s<>\"'`)\]]++"

_FORM = """
    a about actual actually additional all already alternatives an and another any anything are as be
    been before behave behavior behaviour below bug can case checks code comments complete config
    configuration considered context contribution could current currently d demo describe description
    detail details did do does else error errors example examples expect expectation expectations
    expected explain explanation feature fix for full further get got happen happened happening happens
    have here how i if in info information input instead is issue it its like link ll log logs m me
    message messages minimal motivation my need note notes observed of on open or other our output please
    possible post prerequisites problem proposal proposed provide question questions re reason regression
    related relevant repo report repro reproduce reproducer reproducible reproducing reproduction request
    result results run s sample screenshot screenshots see seeing self service setup should snippet
    solution solutions source stack stacktrace steps such suggested suggestion suggestions summary t take
    test that the there this to trace traceback try trying use used using ve video vs want was were what
    when where which why with workaround workarounds would you your
"""
_ENVIRONMENT = """
    browser browsers checklist device env environment environments hardware installed operating os
    packages platform platforms software system version versions
"""
_FORM_WORDS = frozenset(_FORM.split())  # a heading made of these alone is part of a form
_ENVIRONMENT_WORDS = frozenset(_ENVIRONMENT.split())
_ASKING = frozenset({"what", "which", "your", "my", "output"})
_KINDS = (
    "bug|bugs|bug report|feature|feature request|issue|enhancement|regression|question|help|feat|fix|chore"
)
_TAG = (
    rf"(?i)[ \t]*+(?:#++[ \t]++|\[(?:{_KINDS}|[\d.vx ]++)\][ \t:-]*+"
    rf"|(?:{_KINDS})(?:\((?P<scope>[^()\n]++)\))?+!?+:[ \t]++)"
)
_TAG_SIGNS = frozenset("#[:")
_EMPTY = frozenset({"_no response_", "no response", "n/a", "none", "none.", "-", "*no response*"})
_FENCE = r"(?:[ \t>]|[-*+][ \t]|\d{1,3}\.[ \t])*+(?P<mark>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)$"
_HEADING = (
    r"[ \t]*+(?:(?:#[ \t]++|#{2,6}[ \t]*+)(?P<marked>[^#\n][^\n]*+)"
    r"|\*\*(?P<bold>[^*\n]{2,80}+)\*\*[ \t:]*+(?P<rest>[^\n]*+))$"
)
CHECK_BOX = r"(?m)^[ \t]*+[-*+][ \t]*+\[[ xX]?\](?!\()[^\n]*+"
_FACT = (
    r"(?i)[ \t]*+(?:[-*+][ \t]*+)?+[*_`]*+(?:os|browser|platform|python|node|version|[\w.-]++ version)"
    r"[*_`]*+[ \t]*+:[^\n]{0,60}$"
)
_NOISE = (
    r"!\[[^\[\]\n]*+\]\([^()\n]*+\)"  # images
    r"|</?(?:a|b|br|code|details|div|em|h\d|hr|i|img|kbd|li|ol|p|span|strong|sub|summary|sup|table|td|th|tr|ul)"
    r"\b[^<>\n]*+>"
    r"|<!--[^<>\n]*+-->|" + URL
)
_LIST_ITEM = r"[ \t]*+(?:[-*+]|\d{1,3}[.)])[ \t]"
_SENTENCE = r"(?<![\w.])(?:[A-Za-z][a-z']*+,?+[ ]){4}"  # four plain words in a row
_SESSION = r"[ \t]*+(?:>>>|In \[\d++\]:)(?:[ \t]|$)"
_ERROR_LINE = r"[\w.:]++(?:: |$)"
_CODE_LINE = r"""(?x)[ \t]*+(?:
    (?:>>>|\.\.\.|\$|Out\[\d++\]:|In\ \[\d++\]:|\#include|\#!)[ \t]
    |(?:from\ [\w.]++\ import|import\ [\w.{*"'@/]++|def\ \w++[ (:]|class\ \w++\ ?[({:<]
      |func\ \w++\(|fn\ \w++[(<]|print\(|return\ [\w.\[("']++$|raise\ \w++\(|throw\ new\b
      |(?:const|let|var)\ \w++\ ?[:=]
      |package\ [\w.]++;?$|(?:for|if|with|while|elif|except)\ [^\n]*:$
      |(?:else|try|finally):$|@\w[\w.]*+(?:\([^\n]*)?$)
    |(?:[\w.$@]|\[[^\[\]\n]*+\])++[ ]?(?:[-+*/|&:]?=|=>)[ ]?[^\s=]
    |[\w.:$]++\([^\n]*\)[;,]?+[ ]*+$
    |[)\]}]++[;,)]*+$
    )"""
_VERSION = (
    r"(?<![\w.])(?:[\w@/.+-]{1,60}?[-=@:/ ])??v?\d{1,5}\.\d{1,5}\.\d[\w.+-]*+"  # with the name before it
)
_MOST_BESIDE_VERSIONS = 3  # words; a line with more is a sentence about a version
_LONGEST_VERSIONS = 160  # characters of a line that lists versions
_QUIET_LOG = (
    r"(?i)[^\w\n]{0,8}(?:ts=)?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\n]{0,60}?[\[ =\"](?:info|debug|trace)[\] :|\"]"
)
_FORM_FILE = r"(?i)(?:^|/)issue_templates?(?:/[^/]+|\.\w+)$"
_FORM_KEY = (  # of a form in YAML
    r"^[ \t]*+(?:-[ \t]++)?+(?:about|description|label|name|placeholder|title|value)[ \t]*+:[ \t]*+[|>]?+-?+"
)
_MOST_TAGS = 5  # before a title; a limit, because each costs a copy of the title
_LONGEST_LABEL = 60  # characters; a longer line of common words is a sentence
_CODE_ENDS = (";", "{", "};", "},", "=>")


def is_form_file(path: str) -> bool:
    """Return whether a file holds a form that new issues of the repository start from."""
    return "template" in path.lower() and re.search(_FORM_FILE, path) is not None


def form_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield what each line of a form says, as `without_form` compares it."""
    for line in lines:
        yield _said(line)
        yield _said(re.sub(_FORM_KEY, "", line))


def without_form(text: str, asked: Container[str]) -> str:
    """Return a report without the lines that its form asks, whatever marks they have. Its title stays."""
    title, line_end, body = text.lstrip().partition("\n")
    if not line_end:
        return text
    return "\n".join((title, *("" if _said(line) in asked else line for line in body.split("\n"))))


def _said(line: str) -> str:
    return " ".join(_words(line))


def split(text: str, frames: Container[int] = ()) -> tuple[str, str, str]:
    """Return title, prose and code of a text with `\\n` line ends; a text of one line is all title.

    `frames` are the positions where a stack frame's line starts.
    """
    stripped = text.lstrip()
    first, _, body = stripped.partition("\n")
    title = _title(first)
    if not body.strip():
        return title, "", ""
    reader = _Reader(body)
    start = len(text) - len(body)
    for number, line in enumerate(body.split("\n")):
        reader.read(number, line, start in frames)
        start += len(line) + 1
    prose = re.sub(_NOISE, " ", "\n".join(reader.prose))
    return title, re.sub(r"\n{3,}+", "\n\n", prose).strip(), "\n".join(reader.code).strip("\n")


def _title(line: str) -> str:
    """Return the first line without tags such as `[Bug]`, `bug:`, `##`, as long as something is left."""
    title = line.strip()
    if _TAG_SIGNS.isdisjoint(title):  # most queries, which need no pattern then
        return title
    for _ in range(_MOST_TAGS):
        match = re.match(_TAG, title)
        if match is None or match.end() == len(title):
            break
        scope = match["scope"]
        title = f"{scope}: {title[match.end() :]}" if scope else title[match.end() :]
    return title


def _words(heading: str) -> list[str]:
    return re.findall(r"[^\W_]++", heading.lower())


def _is_form(heading: str) -> bool:
    """Return whether a heading comes from a template: templates use every word of it."""
    return _FORM_WORDS.issuperset(_words(heading))


def _is_environment(heading: str) -> bool:
    """Return whether a heading is like `Environment` or `Which version of Node?`, not `Version is wrong`."""
    words = _words(heading)
    foreign = [word for word in words if word not in _FORM_WORDS and word not in _ENVIRONMENT_WORDS]
    if _ENVIRONMENT_WORDS.isdisjoint(words) or len(foreign) > 2:
        return False
    return not foreign or words[-1] in _ENVIRONMENT_WORDS or words[0] in _ASKING


def _is_label(line: str) -> bool:
    """Return whether a line is a label of a form, such as `Steps to reproduce:`, without the marks of a
    heading."""
    if len(line) > _LONGEST_LABEL or not line.rstrip(":?").replace(" ", "").isalpha():
        return False
    return all(word in _FORM_WORDS or word in _ENVIRONMENT_WORDS for word in _words(line))


def _is_sentence(line: str) -> bool:
    """Return whether a line holds four plain words in a row."""
    return re.search(_SENTENCE, line) is not None


def _is_code(line: str) -> bool:
    """Return whether a line outside of fences is code: by its form, or because it is indented and no
    sentence."""
    if line.rstrip().endswith(_CODE_ENDS):
        return True
    if re.match(_CODE_LINE, line):
        return not line.endswith(".")
    indented = line.startswith(("    ", "\t"))
    return indented and not re.match(_LIST_ITEM, line) and not _is_sentence(line)


def _is_noise(line: str) -> bool:
    """Return whether a line lists versions, as of installed packages, or is one of a log below a warning."""
    if "." not in line and ":" not in line:
        return False
    if len(line) <= _LONGEST_VERSIONS and (rest := re.sub(_VERSION, " ", line)) != line:
        said = [word for word in _words(rest) if word not in _FORM_WORDS and word not in _ENVIRONMENT_WORDS]
        if len(said) <= _MOST_BESIDE_VERSIONS:
            return True
    return re.match(_QUIET_LOG, line) is not None


class _Reader:
    """The state of reading an issue: inside a fence, a comment, a traceback, an environment section."""

    def __init__(self, body: str) -> None:
        self.prose: list[str] = []
        self.code: list[str] = []
        self._last_comment_end = body.count("\n", 0, max(body.rfind("-->"), 0))
        self._closing = ""  # what ends the fence, '' outside
        self._in_comment = self._in_environment = self._in_traceback = self._in_session = False
        self._source_follows = False  # a frame's line of source may have lost its indentation

    def read(self, number: int, line: str, is_frame: bool) -> None:
        """Add one line to the prose or to the code, or leave it out."""
        if self._closing:
            self._in_fence(line)
        elif self._in_comment:
            _, closed, rest = line.partition("-->")
            self._in_comment = not closed
            self._plain(rest, False)
        elif not self._opens_fence(line):
            before, opened, comment = line.partition("<!--")
            if opened and "-->" not in comment and number < self._last_comment_end:
                self._in_comment = True
                line = before
            self._plain(line, is_frame)

    def _opens_fence(self, line: str) -> bool:
        """Return whether a line opens a block of code; the block is then read."""
        if ("```" in line or "~~~" in line) and (match := re.match(_FENCE, line)):
            self._closing = match["mark"]
            if " " in match["info"].strip():
                self._add_code(match["info"])  # code that was begun on the line of the mark
        elif (start := line.find("<pre")) >= 0 and "</pre>" not in line:
            self._closing = "</pre>"
            self._plain(line[:start], False)
            self._add_code(line[start:].partition(">")[2])
        elif line.strip() == "{{{":
            self._closing = "}}}"
        else:
            return False
        return True

    def _in_fence(self, line: str) -> None:
        """Read a line inside a block of code, or the end of the block."""
        mark = self._closing
        bare = line.strip(" \t>")
        if mark[0] in "`~":
            closes = bare.startswith(mark) and not bare.strip(mark[0])
        else:
            closes = mark in line
            line = line.partition(mark)[0] if closes else line
        if closes:
            self._closing = ""
        if not closes or mark[0] not in "`~":
            self._add_code(line)

    def _add_code(self, line: str) -> None:
        if not self._in_environment and not _is_noise(line):
            self.code.append(line)

    def _plain(self, line: str, is_frame: bool) -> None:
        """Read a line outside of fences and comments."""
        if self._continues_code(line, is_frame):
            self._add_code(line)
            return
        bare = line.strip()
        if not bare or bare.lower() in _EMPTY or ("[" in bare and re.match(CHECK_BOX, line)):
            self.prose.append("")
        elif bare[0] in "#*" and (match := re.match(_HEADING, line)):
            self._heading(match["marked"] or match["bold"], match["rest"] or "")
        elif _is_label(bare) or (":" in bare and re.match(_FACT, line)):
            self.prose.append("")
        elif not self._still_environment(line) and not _is_noise(line):
            (self.code if _is_code(line) else self.prose).append(line)

    def _heading(self, heading: str, rest: str) -> None:
        """Read a heading: those of forms are left out, and an environment section begins with its own."""
        self._in_environment = _is_environment(heading)
        if self._in_environment:
            return
        if not _is_form(heading):
            self.prose.append(heading)
        self.prose.append(rest)

    def _still_environment(self, line: str) -> bool:
        """Return whether an environment section goes on. A sentence that is no list item ends it."""
        if self._in_environment and len(line.split()) >= 10 and _is_sentence(line):
            self._in_environment = bool(re.match(_LIST_ITEM, line))
        return self._in_environment

    def _continues_code(self, line: str, is_frame: bool) -> bool:
        """Return whether a line belongs to a traceback (frames, source lines, the error) or to a shell
        session."""
        indented = line.startswith((" ", "\t", ">"))
        if is_frame or line.lstrip(" \t>E").startswith("Traceback (most recent"):
            self._in_traceback = self._source_follows = True
            return True
        if self._in_traceback and line.strip():
            is_sentence = _is_sentence(line)
            self._in_traceback = indented or (self._source_follows and not is_sentence)
            self._source_follows = False
            return self._in_traceback or not is_sentence or re.match(_ERROR_LINE, line) is not None
        self._in_traceback = False
        if (">>>" in line or "In [" in line) and re.match(_SESSION, line):
            self._in_session = True
        elif self._in_session and (not line.strip() or _is_sentence(line)):
            self._in_session = False
        return self._in_session
