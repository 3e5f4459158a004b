"""Find the stack frames of a pasted stack trace or compiler message: paths, lines and functions.

`_FORMS` has one row for each way of writing a frame. Every pattern is tied to the start of a line and takes
each token whole (possessive), so the time is linear in the text whatever the text is. A row is compiled only
for a text that holds one of its marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec


class Frame(msgspec.Struct, frozen=True):
    """One stack frame. The path is as written, with forward slashes. An unknown line is 0, an unknown
    function is empty."""

    path: str
    line: int
    function: str


class LocatedFrame(msgspec.Struct, frozen=True):
    """A stack frame, and the offset in the text at which its line starts."""

    start: int
    newest_first: bool  # whether its language prints the most recent call first
    frame: Frame


_LEAD = r"^(?:[\w.-]++[ \t]*+[|>])?+[ \t>|]*+(?:E[ \t]++)?+"  # `web_1 |`, quotation, the margin of pytest
_LINE = r"(?P<line>\d{1,7})"
_LONGEST_CALL = 300  # characters of the line above a frame that are looked at for the function
_CALL_ABOVE = (
    r"[ \t]*+(?:\d++:[ \t]++(?:0x[0-9a-f]++ - )?+(?P<rust>\S.*)|(?:created by )?+(?P<go>[^\s(]\S*?)\([^*])"
)
_ANONYMOUS = r"<[^<>]*+>|\{\{closure\}\}|\[[^\[\]]*+\]|::h[0-9a-f]{16}"  # also type arguments and hashes


def _path(*suffixes: str) -> str:
    """Return the pattern of a path that ends in one of some suffixes."""
    endings = "|".join(rf"(?<={re.escape(suffix)})" for suffix in suffixes)
    return rf"(?P<path>(?:[A-Za-z]:(?=[\\/]))?+[^\s:;,\"'`()<>|*?]++(?:{endings}))"


def _last_name(written: str) -> str:
    """Return the last name of a function as written: `run` for `a.b.run`, `Queue::run`, `Queue#run`, `block
    in run`, `new run`; nothing for an anonymous one."""
    if not written:
        return ""
    names = re.findall(r"[^\W\d]\w*+[?!]?", re.sub(_ANONYMOUS, "", written))
    return names[-1] if names else ""


def _frame(match: re.Match[str]) -> Frame:
    """Return the frame of a match with path, line and function."""
    found = match.groupdict()
    return Frame(
        found["path"].replace("\\", "/"), int(found["line"] or 0), _last_name(found["function"] or "")
    )


def _frame_of_class(match: re.Match[str]) -> Frame:
    """Return a frame of the JVM, which prints a bare file name: its folder is the package of the class."""
    owner, _, method = match["function"].rpartition(".")
    package, _, owner = owner.rpartition(".")
    folder = package.replace(".", "/")
    if method == "<init>":
        method = owner.split("$")[-1]
    method = method.split("$")[1] if method.startswith("lambda$") else method
    return Frame(f"{folder}/{match['path']}" if folder else match["path"], int(match["line"]), method)


def _frame_under_call(match: re.Match[str]) -> Frame:
    """Return a frame of Go or Rust, which print the function on the line above its path."""
    text, end = match.string, match.start() - 1
    start = text.rfind("\n", 0, max(end, 0)) + 1
    above = re.match(_CALL_ABOVE, text[start : min(end, start + _LONGEST_CALL)] if end > 0 else "")
    function = _last_name(above["rust"] or above["go"]) if above else ""
    return Frame(match["path"].replace("\\", "/"), int(match["line"]), function)


class _Form:
    """One way of writing a frame. A text without any of the marks holds no such frame."""

    def __init__(
        self,
        marks: tuple[str, ...],
        pattern: str,
        newest_first: bool = True,
        read: Callable[[re.Match[str]], Frame] = _frame,
    ) -> None:
        self.marks, self.pattern, self.newest_first, self.read = marks, pattern, newest_first, read


_JAVA = (".java", ".kt", ".scala", ".groovy")
_SCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
_RUBY = (".rb", ".rake", ".erb", ".ru")
_C = (".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".m", ".mm", ".cu", ".y", ".l", ".inl")
_NET = (".cs", ".fs", ".vb")
_ORIGIN = r"(?:[a-z-]++://[^\s/()]*+/)?+"  # of a script: `file:///`, `http://localhost:3000/`

_FORMS = (
    _Form(  # File "app/models.py", line 12, in save
        ('", line ',),
        _LEAD + rf'File "(?P<path>[^"\n<]++)", line {_LINE}(?:,? in (?P<function>\S++))?+',
        newest_first=False,
    ),
    _Form(  # app/models.py:12: in save · File ~/app/models.py:12, in save(self) · app/models.py in save(self)
        (".py",),
        _LEAD + rf"(?:File )?+{_path('.py', '.pyx')}(?:(?=:\d| in ))(?::{_LINE})?+"
        r"(?:[:,]?+ in (?P<function>[\w.<>]++))?+",
        newest_first=False,
    ),
    _Form(  # at com.shop.Cart$Item.add(Cart.java:12)
        _JAVA,
        _LEAD + rf"at (?:[\w.@-]++/)*+(?P<function>[\w.$<>-]++)\({_path(*_JAVA)}:{_LINE}\)",
        read=_frame_of_class,
    ),
    _Form(  # at async Cart.add (src/cart.ts:12:5) · at src/cart.ts:12:5
        _SCRIPT,
        _LEAD + rf"at (?:(?P<function>[^\n()]++)\()?+{_ORIGIN}{_path(*_SCRIPT)}(?:\?[^\s:()]*+)?+:{_LINE}",
    ),
    _Form(  # add@http://localhost/cart.js:12:5
        ("@http", "@file:", "@webpack"),
        _LEAD + rf"(?P<function>[\w.$/<*]*+)@{_ORIGIN}{_path(*_SCRIPT)}(?:\?[^\s:()]*+)?+:{_LINE}:\d",
    ),
    _Form(  # from lib/cart.rb:12:in `block in add'
        _RUBY,
        _LEAD + r"(?:# )?+(?:\d++: )?+(?:from )?+"
        rf"{_path(*_RUBY)}:{_LINE}(?::in [`'](?P<function>[^'\n]++)')?+",
    ),
    _Form((".go:",), _LEAD + rf"{_path('.go')}:{_LINE}", read=_frame_under_call),
    _Form(  # at src/cart.rs:12:5 · --> src/cart.rs:12:5 · thread 'main' panicked at src/cart.rs:12:5
        (".rs:",),
        _LEAD + r"(?:at |--> |::: |thread '[^'\n]*+'(?: \(\d++\))?+ panicked at (?:'[^\n]*', )?)"
        rf"{_path('.rs')}:{_LINE}",
        read=_frame_under_call,
    ),
    _Form(  # #0 /app/Cart.php(12): Shop\Cart->add() · … in /app/Cart.php on line 12
        (".php",),
        _LEAD + rf"(?:#\d++ |[^\n]*?\b(?:in|at) )?{_path('.php')}(?:\(|:| on line ){_LINE}"
        r"\)?+(?:: (?P<function>[^\s(]++))?+",
    ),
    _Form(  # #3 0x5f in add (x=0) at src/cart.c:12 · src/cart.c:12:5: error · ==1== by 0x4: add (cart.c:12)
        _C,
        _LEAD + r"(?:(?:#\d++|==\d++==[ \t]++(?:at|by))[ \t]++(?:0x[0-9a-fA-F]++:?+[ \t]++)?+(?:in[ \t]++)?+"
        r"(?P<function>[^\s(]++)[^\n]*?[ \t(](?:at[ \t]++)?|In file included from |at )?"
        rf"{_path(*_C)}[:(]{_LINE}",
    ),
    _Form(  # at Shop.Cart.Add(Int32 count) in C:\shop\Cart.cs:line 12 · Cart.cs(12,5): error CS0103
        _NET,
        _LEAD + rf"(?:at (?P<function>[^\n(]++)\([^\n]*\) in )?{_path(*_NET)}(?::line |\(){_LINE}",
    ),
    _Form(  # (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.add/2
        (".ex:", ".exs:"),
        _LEAD + rf"(?:\([^\n()]*+\) )?+{_path('.ex', '.exs')}:{_LINE}"
        r"(?:: (?:anonymous fn/\d++ in )?+(?P<function>[^\s/(]++)/\d)?+",
    ),
)


def find_frames(text: str) -> list[LocatedFrame]:
    """Return every frame of a text in the order of the lines, at most one for each line."""
    found: dict[int, LocatedFrame] = {}
    for form in _FORMS:
        if any(mark in text for mark in form.marks):
            for match in re.finditer(form.pattern, text, re.MULTILINE):
                found.setdefault(
                    match.start(), LocatedFrame(match.start(), form.newest_first, form.read(match))
                )
    return [found[start] for start in sorted(found)]


def deepest_last(located: list[LocatedFrame], text: str) -> tuple[Frame, ...]:
    """Return the frames with the most recent call last; of equal frames the deepest."""
    frames: list[Frame] = []
    for newest_first, run in _runs(located, text):
        frames.extend(reversed(run) if newest_first else run)
    return tuple(reversed(dict.fromkeys(reversed(frames))))


def _runs(located: list[LocatedFrame], text: str) -> Iterator[tuple[bool, list[Frame]]]:
    """Yield the traces of a text, each with its order and its frames.

    A cause is a trace of its own, deeper than the trace above it. Some traces say their order, against the
    habit of their language.
    """
    run: list[Frame] = []
    end, newest_first, usual = 0, False, False
    for one in located:
        between = text[end : one.start]
        said = "most recent call " in between
        if not run or one.newest_first != usual or said or "Caused by" in between:
            if run:
                yield newest_first, run
            run, usual = [], one.newest_first
            newest_first = "most recent call first" in between or (usual and not said)
        run.append(one.frame)
        end = one.start
    if run:
        yield newest_first, run
