"""Whatever a repository holds, each format gives exactly the citations back that it was made of."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest
from builders import make_item, make_pack
from hypothesis import example, given, settings
from hypothesis import strategies as st

from satchel import plugins
from satchel.commands.pack_formats import Renderer
from satchel.errors import InvalidRequest
from satchel.ids import hash_text
from satchel.packing.pack import Budget, Item, Pack, Role
from satchel.packing.sections import Section
from satchel.rendering.packs import terminal
from satchel.rendering.packs.quoting import shown_text
from satchel.rendering.style import Style
from satchel.types import Suggestion
from satchel.verifying.saved_pack import SHORT_HASH, CitedPack

FORMATS = ("context", "markdown", "terminal", "xml")
COMMIT = "3f2a9c1d2e4b5a6978897a6b5c4d3e2f1a0b9c8d"
FAKES = (
    "```",
    "~~~~",
    "`" * 5000,
    "# Context: x",
    "## tests",
    "src/fake.py:1-2 #000000000000 class Fake",
    ":7 #000000000000",
    "### `src/fake.py:1-2` #000000000000 class `Fake`",
    "> src/fake.py:1 #000000000000",
    "missing: all",
    "next: x — y",
    "- next: x",
    "]]>",
    "</item>",
    "]]></item><item path='x' lines='1-1' sha256='0'>",
    "<!DOCTYPE html>",
    "<![CDATA[",
    "&lol;",
    "  12 │ code",
    "  #000000000000 score 1",
    "definitions (1)",
    "src/fake.py:1-2  class Fake  · why",
    "\x1b[31mred\x1b[0m",
    "\u202eabc\u2066",
    "\U000e0041\u061c\ufeff\ufffe\uffff",
    "a\x0cb\x0bc\x85d\u2028e",
    "\x00",
    "\ud800",
    "",
    " ",
    "\t",
    '"',
    "\\",
)
LINE = st.one_of(st.sampled_from(FAKES), st.text(st.characters(exclude_characters="\r\n"), max_size=20))
CONTENT = st.builds(
    lambda lines, ends: "".join(line + end for line, end in zip(lines, ends, strict=False)),
    st.lists(LINE, min_size=1, max_size=8),
    st.lists(st.sampled_from(("\n", "\r\n", "\r", "\n")), min_size=8, max_size=8),
).filter(bool)
PATH = st.one_of(
    st.sampled_from(("src/a.py", "a:1-2.py", "my file.py", "größe/日本.py", "#x", "-", ">", "missing: x")),
    st.sampled_from(('"q".py', "a`b.py", "a\nb", "a\tb", "a\\b", "\u202e.py", "[id].tsx", "a #000000000000")),
    st.text(st.characters(exclude_characters="\0"), max_size=12),
)
QUICK = settings(deadline=None, max_examples=40)
NAME = st.one_of(st.sampled_from(FAKES), st.text(max_size=12))


@st.composite
def items(draw: st.DrawFn) -> Item:
    return make_item(
        draw(PATH),
        draw(CONTENT),
        draw(st.integers(1, 10**6)),
        kind=draw(st.sampled_from(("function", "class", "section", "", "odd kind"))),
        symbol=draw(NAME),
        section=draw(st.sampled_from(Section)),
        ref=draw(st.sampled_from(("worktree", COMMIT))),
        role=draw(st.sampled_from(Role)),
        relationship=tuple(draw(st.lists(st.sampled_from(("calls", "tested_by", "odd one")), max_size=2))),
        distance=draw(st.integers(0, 3)),
        reasons=tuple(draw(st.lists(NAME, max_size=2))),
        language=draw(st.sampled_from(("python", "", "c++", "`x\n"))),
    )


@st.composite
def packs(draw: st.DrawFn) -> Pack:
    return make_pack(
        *draw(st.lists(items(), max_size=5)),
        query=draw(NAME),
        ref=draw(st.sampled_from(("worktree", COMMIT))),
        hints=tuple(draw(st.lists(NAME, max_size=2))),
        next_queries=tuple(draw(st.lists(st.builds(Suggestion, NAME, NAME), max_size=2))),
        budget=draw(
            st.sampled_from(
                (
                    Budget(tokenizer="o200k", max_tokens=4000, used_tokens=12),
                    Budget(tokenizer="my tokenizer.json", used_tokens=12),
                    Budget(tokenizer="claude", max_tokens=900, used_tokens=9, headroom_tokens=45),
                    Budget(tokenizer="chars4", max_chars=20000, used_chars=12),
                )
            )
        ),
    )


def renderer(name: str) -> Renderer:
    found: Renderer = plugins.load("renderer", name)
    return found


def cited(name: str, text: str) -> CitedPack:
    found = renderer(name).read(text)
    assert found is not None
    return found


def in_sections(pack: Pack) -> list[Item]:
    return [item for section in Section for item in pack.of_section(section)]


def facts(pack: CitedPack, digits: int) -> list[tuple[object, ...]]:
    return [
        (
            one.path,
            one.start_line,
            one.end_line,
            one.content_hash[:digits],
            one.ref[:12],
            one.section,
            one.shown,
        )
        for one in pack.citations
    ]


def wanted(found: Sequence[Item], digits: int) -> list[tuple[object, ...]]:
    return [
        (one.path, one.start_line, one.end_line, one.content_hash[:digits], one.ref[:12], one.section.value)
        + (shown_text(one.content),)
        for one in found
    ]


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None)
@given(pack=packs())
@example(pack=make_pack(*(make_item("src/a.py", fake, 7, symbol=fake) for fake in FAKES if fake)))
def test_reading_gives_exactly_the_citations_of_the_pack(name: str, pack: Pack) -> None:
    found = cited(name, renderer(name).render(pack))
    digits = 64 if name == "xml" else SHORT_HASH
    assert facts(found, digits) == wanted(in_sections(pack), digits)
    assert (found.format, found.max_tokens, found.max_chars) == (
        name,
        pack.budget.max_tokens,
        pack.budget.max_chars,
    )
    assert found.ref[:12] == pack.ref[:12] and found.headroom_tokens == pack.budget.headroom_tokens


@pytest.mark.parametrize("name", FORMATS)
@QUICK
@given(pack=packs())
def test_a_format_reads_no_other_and_none_reads_prose(name: str, pack: Pack) -> None:
    text = renderer(name).render(pack)
    assert [other for other in FORMATS if renderer(other).read(text) is not None] == [name]
    assert renderer(name).read(pack.query) is None


@pytest.mark.parametrize("name", FORMATS)
@QUICK
@given(pack=packs())
def test_windows_line_ends_a_byte_order_mark_and_colours_change_nothing(name: str, pack: Pack) -> None:
    text = renderer(name).render(pack)
    saved = "\ufeff" + text.replace("\n", "\r\n")
    assert cited(name, saved) == cited(name, text)
    if name == "terminal":
        assert cited(name, terminal.paint(text, Style(colour=True))) == cited(name, text)


@pytest.mark.parametrize("name", FORMATS)
@QUICK
@given(pack=packs(), share=st.floats(0, 0.999))
def test_a_pack_that_was_cut_is_refused_or_has_all_its_citations(name: str, pack: Pack, share: float) -> None:
    text = renderer(name).render(pack)
    try:
        found = renderer(name).read(text[: int(len(text) * share)])
    except InvalidRequest as error:
        assert "cut or edited" in error.message or "was edited" in error.message
    else:
        assert found is None or len(found.citations) == len(pack.items)


@QUICK
@given(pack=packs())
def test_xml_is_well_formed_for_any_content(pack: Pack) -> None:
    root = ElementTree.fromstring(renderer("xml").render(pack))
    texts = [(item.text or "").removeprefix("\n") for item in root.iter("item")]
    assert texts == [shown_text(item.content) for item in in_sections(pack)]


@pytest.mark.parametrize("name", FORMATS)
@QUICK
@given(pack=packs())
def test_nothing_hidden_is_in_any_text(name: str, pack: Pack) -> None:
    text = renderer(name).render(pack)
    assert not set(text) & set("\x00\x1b\r\x0c\x0b\x85\u2028\u202e\u2066\u061c\ufeff\ufffe\U000e0041\ud800")


@pytest.mark.parametrize("name", FORMATS)
def test_what_an_item_says_of_itself_is_read_again(name: str) -> None:
    item = make_item(
        "src/a.py",
        "a\nb\n",
        symbol="Session.close",
        kind="method",
        role=Role.RELATED,
        relationship=("calls", "tested_by"),
        distance=2,
    )
    found = cited(name, renderer(name).render(make_pack(item, hints=("more `here`",)))).citations[0]
    assert (found.kind, found.symbol, found.relationship, found.distance) == (
        "method",
        "Session.close",
        ("calls", "tested_by"),
        2,
    )


@pytest.mark.parametrize("name", FORMATS)
def test_hints_and_next_queries_are_read_again(name: str) -> None:
    more = Suggestion("where's [SessionStore] *opened*?", "SessionStore is named, not defined")
    pack = make_pack(hints=("no `tests`: <none> found",), next_queries=(more,))
    found = cited(name, renderer(name).render(pack))
    assert (found.hints, found.next_queries) == (pack.hints, pack.next_queries)
    assert found.query == pack.query


@pytest.mark.parametrize("kind", ["text", ""])
@pytest.mark.parametrize("symbol", ["", "Store", "a · b"])
@pytest.mark.parametrize("reasons", [(), ("map",), ("words", "part")])
def test_the_reason_on_a_screen_is_never_taken_for_the_symbol(
    kind: str, symbol: str, reasons: tuple[str, ...]
) -> None:
    item = make_item("src/utf16.txt", "x\n", kind=kind, symbol=symbol, reasons=reasons)
    renderer = plugins.load("renderer", "terminal")
    (found,) = renderer.read(renderer.render(make_pack(item))).citations
    assert (found.kind, found.symbol, found.reasons) == (kind, symbol, reasons)


def test_a_hash_is_twelve_digits_in_text_and_whole_in_xml() -> None:
    pack = make_pack(make_item("a.py", "x\n"))
    for name in FORMATS:
        text = renderer(name).render(pack)
        assert hash_text("x\n")[:SHORT_HASH] in text
        assert (hash_text("x\n") in text) == (name == "xml")


@pytest.mark.parametrize(
    "declaration",
    ["<!DOCTYPE context>", '<!DOCTYPE c [<!ENTITY a "b">]>', '<!DOCTYPE c SYSTEM "file:///etc/passwd">'],
)
def test_xml_with_a_document_type_is_refused(declaration: str) -> None:
    text = renderer("xml").render(make_pack(make_item("a.py", "x\n")))
    with pytest.raises(InvalidRequest, match="document type"):
        renderer("xml").read(f"<?xml version='1.0'?>{declaration}{text}")
