"""Other ways to write a word of the query: programmers' short forms, and words written together."""

from __future__ import annotations

from functools import cache

from satchel.terms import stem

_SHORT = 0.5  # what a short form counts beside the word itself: `config` is rather `configuration` than not
_TOGETHER = 0.7  # `WebSocket` and `websocket`
_LEAST_TOGETHER = 6  # letters of a word that may be two
_FORMS = """
addr address | alloc allocation allocate allocator | app application | arg argument | async asynchronous
| attr attribute | auth authentication authorization | bg background | buf buffer | cb callback | cfg
config configuration configure | char character | cmd command | col column | cond condition | conf
configuration | conn connection | ctx context | ctrl control controller | cur current cursor | db
database | decl declaration | def definition default | del delete remove | dep dependency | desc
description descriptor | dest destination | dev development device | dict dictionary | diff difference |
dir directory folder | dist distribution distance | doc document documentation | elem element | env
environment | err error | eval evaluate evaluation | exc exception | exec execute execution | expr
expression | ext extension | fmt format | fn func function | freq frequency | gen generate generator |
hdr header | id identifier | idx index | impl implementation | info information | init initialize
initialization initial | iter iterator iterate | lang language | len length | lib library | loc location
| log logger logging | max maximum | mem memory | meta metadata | min minimum | mgr manager | mod module
| msg message | mut mutable | nav navigation | num number | obj object | op operation operator | opt
option optional | org organization | param parameter | parse parser | perf performance | perm permission
| pkg package | pos position | pref preference | prev previous | proc process procedure | prop property
| proto protocol prototype | ptr pointer | pub public publish | qry query | rand random | rec record
recursive | ref reference | reg register registry | rel relation relative | repo repository | req
request require | res resp response | ret return | sched schedule scheduler | sec second security | seq
sequence | sess session | sig signature signal | spec specification | src source | stat statistics
status | std standard | stmt statement | str string | struct structure | sub subscribe subscription |
sync synchronize synchronous | sys system | tbl table | temp tmp temporary | term terminal | txt text |
util utility | val value validate validation | var variable | ver version | vec vector | win window | ws
websocket
"""


@cache
def _by_stem() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in _FORMS.split("|"):
        forms = dict.fromkeys(map(stem, group.split()))
        for form in forms:
            found.setdefault(form, {}).update({other: None for other in forms if other != form})
    return {form: tuple(others) for form, others in found.items()}


def other_spellings(term: str) -> list[tuple[str, float]]:
    """Terms that may stand for a term of the query, and how much each counts."""
    if term[0] == "=":
        return [(stem(term[1:]), _TOGETHER)]
    found = [(other, _SHORT) for other in _by_stem().get(term, ())]
    if len(term) >= _LEAST_TOGETHER:
        found.append((f"={term}", _TOGETHER))
    return found
