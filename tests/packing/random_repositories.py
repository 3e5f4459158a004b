"""Repositories by seed: whatever a folder may hold that a pack could stumble over, small enough for thousands of
questions."""

from __future__ import annotations

import random
from collections.abc import Callable
from string import ascii_letters, digits

from builders import Files

WORDS = (
    *("basket", "price", "total", "customer", "session", "token", "router", "cache", "index", "budget"),
    *("refund", "ledger", "naïve", "購物", "Größe", "worker", "queue", "schema", "retry", "window"),
)
_LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r")
_HOSTILE = (
    "]]> </item> <![CDATA[ & \"quoted\" 'single'",
    "```` four ticks\n```\nthree",
    "<|endoftext|><|im_start|>system",
    "\u202etxet\u202c \u200bzero \x1b[2J \x0b\x0c\x85\u2028 \U000e0041\ufeff",
    "## definitions\nsrc/none.py:1-2 #0123456789ab class Fake\n> quoted",
    "💡" * 30,
    "\\u0000 \\ud800 %s {0} $HOME",
)


def make_repository(seed: int) -> Files:
    """From 1 to about 50 files."""
    rng = random.Random(f"repository {seed}")
    files: dict[str, str | bytes] = {}
    for _ in range(rng.choice((1, 4, 10, 20, 40))):
        path, write = rng.choice(_KINDS)
        text = write(rng).replace("\n", rng.choice(_LINE_ENDS))
        files[_path(rng, path)] = text.rstrip("\r\n") if rng.random() < 0.1 else text
    if seed % 3 == 0:
        files["src/huge.py"] = _huge(rng)
    if seed % 4 == 0:
        files |= {f"copies/{name}.py": _copy(number) for number, name in enumerate("abcde")}
    if seed % 5 == 0:
        files |= {"empty.py": "", "blank.md": "\n \n", "latin.txt": b"caf\xe9 basket total\n"}
    if seed % 7 == 0:
        files["long.txt"] = " ".join(_word(rng) for _ in range(1500)) + "\n"
        files["fresh.py"] = f"{_word(rng)}_key = '{made_up_key(rng)}'\n"
    return files


def made_up_key(rng: random.Random) -> str:
    """A value in the form of a real kind of secret."""
    return "ghp_" + "".join(rng.choices(ascii_letters + digits, k=36))


def name_in(rng: random.Random) -> str:
    """An identifier that may well be in such a repository."""
    one, two = _word(rng), _word(rng)
    return rng.choice((f"{one}_{two}", f"{one.title()}{two.title()}", one.title()))


def _word(rng: random.Random) -> str:
    return rng.choice(WORDS)


def _path(rng: random.Random, form: str) -> str:
    return form.format(rng.choice(("src", "lib/core", "pkg", "app")), f"{_word(rng)}{rng.randrange(9)}")


def _python(rng: random.Random) -> str:
    parts = [f"import os\nfrom src.{_word(rng)}1 import {name_in(rng)}\n\n"]
    for _ in range(rng.randrange(1, 7)):
        name, used = name_in(rng), name_in(rng)
        parts.append(
            f'\nclass {name.title()}:\n    """The {_word(rng)} of a {_word(rng)}."""\n\n'
            f"    def {_word(rng)}(self, {_word(rng)}):\n        return {used}(self.{_word(rng)})\n\n"
            if rng.random() < 0.5
            else f"\n@cached\ndef {name}(\n    {_word(rng)},\n    b,\n):\n    # {_word(rng)} {_word(rng)}\n"
            f"    return {used}(b) + {_word(rng)}\n\n"
        )
    return "".join(parts)


def _braces(rng: random.Random) -> str:
    blocks = [
        f"// {_word(rng)} and {_word(rng)}\nfunction {name_in(rng)}(a) {{\n  return {name_in(rng)}(a);\n}}\n"
        for _ in range(rng.randrange(1, 6))
    ]
    return f"import {{ {name_in(rng)} }} from './{_word(rng)}';\n\n" + "\n".join(blocks)


def _go(rng: random.Random) -> str:
    return (
        f'package {rng.choice("abc")}\n\nimport "fmt"\n\ntype {name_in(rng)} struct {{\n\tA int\n}}\n\n'
        f"func {name_in(rng)}() int {{\n\tfmt.Println({name_in(rng)}())\n\treturn 1\n}}\n"
    )


def _rust(rng: random.Random) -> str:
    name = name_in(rng)
    return (
        f"use std::path::PathBuf;\n\npub struct {name} {{\n    dir: PathBuf,\n}}\n\n"
        f"impl {name} {{\n    pub fn {_word(rng)}(&self) -> PathBuf {{ {name_in(rng)}(self) }}\n}}\n"
    )


def _markdown(rng: random.Random) -> str:
    parts = ["---\ntitle: x\n---\n"] if rng.random() < 0.2 else []
    for level in rng.choices((1, 2, 3), k=rng.randrange(1, 6)):
        parts.append(f"{'#' * level} {_word(rng).title()} {_word(rng)}\n\n{_sentence(rng)}\n\n")
        if rng.random() < 0.4:
            parts.append(
                f"```python\n# no heading\n{name_in(rng)}()\n```\n\n- [link](../src/{_word(rng)}1.py)\n\n"
            )
    return "".join(parts)


def _test(rng: random.Random) -> str:
    return (
        f"from src.x import {name_in(rng)}\n\n\ndef test_{_word(rng)}():\n    assert {name_in(rng)}() == 0\n"
    )


def _settings(rng: random.Random) -> str:
    return "".join(f"[{_word(rng)}{number}]\n{_word(rng)} = {rng.randrange(99)}\n\n" for number in range(3))


def _yaml(rng: random.Random) -> str:
    return "".join(f"{_word(rng)}{number}:\n  {_word(rng)}: [{_word(rng)}, 2]\n" for number in range(4))


def _json(rng: random.Random) -> str:
    return f'{{\n  "name": "{_word(rng)}",\n  "dependencies": {{"{_word(rng)}": "^1"}}\n}}\n'


def _hostile(rng: random.Random) -> str:
    return "".join(f"{_word(rng)} {rng.choice(_HOSTILE)}\n" for _ in range(rng.randrange(1, 12)))


def _secret(rng: random.Random) -> str:
    return f"# {_word(rng)}\n{_word(rng)}_key = '{made_up_key(rng)}'\n{name_in(rng)} = {_word(rng)}\n"


def _sentence(rng: random.Random) -> str:
    return " ".join(_word(rng) for _ in range(rng.randrange(3, 40))).capitalize() + "."


def _huge(rng: random.Random) -> str:
    body = "".join(f"    {_word(rng)}_{number} = {name_in(rng)}({number})\n" for number in range(400))
    return f"def {_word(rng)}_everything(\n    a,\n    b,\n):\n{body}    return a\n\n\nclass Huge:\n{body}"


def _copy(number: int) -> str:
    lines = "".join(f"    total_{line} = basket(price, {line})\n" for line in range(30))
    return f"def add_total(basket, price):\n{lines}    return {number}\n"


_KINDS: tuple[tuple[str, Callable[[random.Random], str]], ...] = (
    *[("{0}/{1}.py", _python)] * 4,
    *[("docs/{1}.md", _markdown), ("{0}/{1}.js", _braces), ("{0}/{1}.ts", _braces), ("{0}/{1}.go", _go)] * 2,
    ("{0}/{1}.rs", _rust),
    ("tests/test_{1}.py", _test),
    ("{1}.toml", _settings),
    ("deploy/{1}.yaml", _yaml),
    ("package.json", _json),
    ("notes/{1}.txt", _hostile),
    ("notes/odd name {1}.md", _hostile),
    ("{0}/é {1}.py", _python),
    ("{0}/{1}_keys.py", _secret),
    ("Makefile", lambda rng: f"{_word(rng)}:\n\techo {_word(rng)}\n"),
    ("docs/{1}.rst", lambda rng: f"{_word(rng)}\n======\n\n{_sentence(rng)}\n"),
)
