"""Whatever is asked for and however it is widened: what `get` gives is what the file holds, inside the budget."""

from __future__ import annotations

from builders import memory_engine
from hypothesis import given
from hypothesis import strategies as st
from test_properties import Tree, all_ids, few, folder, trees

from satchel import ids, tokenizers
from satchel.commands.get import GetRequest, GetResponse, run
from satchel.engine import Engine
from satchel.lines import split_lines
from satchel.packing.excerpts import Mode

_FORMS = ("{}:{}:{}", "{}:{}-{}", "{}#L{}-L{}", "{}:{}", "{}")


def askable(engine: Engine, data: st.DataObject) -> list[str]:
    """Some ids of chunks, and some lines in all forms."""
    asked = [name for names in all_ids(engine).values() for name in names]
    for record in engine.snapshot().files():
        if record.chunk_count:
            first = data.draw(st.integers(1, record.line_count))
            last = data.draw(st.integers(first, record.line_count))
            asked.append(data.draw(st.sampled_from(_FORMS)).format(record.path, first, last))
    return data.draw(st.lists(st.sampled_from(asked), max_size=12)) if asked else []


def check_citations(engine: Engine, answer: GetResponse) -> None:
    for chunk in answer.chunks:
        record = engine.snapshot().file(chunk.path)
        assert record is not None and 1 <= chunk.start_line <= chunk.end_line <= record.line_count
        raw = (engine.root / chunk.path).read_bytes().decode(record.encoding)
        span = "".join(split_lines(raw)[chunk.start_line - 1 : chunk.end_line])
        assert ids.hash_text(span) == chunk.content_hash and chunk.file_hash == record.file_hash
        if answer.mode == Mode.RAW:
            assert chunk.text == span
        if answer.mode == Mode.SKELETON:
            assert set(split_lines(chunk.text)) <= set(split_lines(span))
        (again,) = run(engine, GetRequest(ids=(chunk.id,))).chunks
        assert (again.start_line, again.end_line, again.content_hash) == (
            chunk.start_line,
            chunk.end_line,
            chunk.content_hash,
        )


@few
@given(trees, st.data(), st.integers(0, 3), st.booleans(), st.sampled_from(Mode))
def test_every_answer_re_reads_exactly(
    tree: Tree, data: st.DataObject, around: int, enclosing: bool, mode: Mode
) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        if asked := askable(engine, data):
            request = GetRequest(ids=tuple(asked), around=around, enclosing=enclosing, mode=mode)
            answer = run(engine, request)
            check_citations(engine, answer)
            answered = [name for chunk in answer.chunks for name in (chunk.asked, *chunk.also_asked)]
            assert sorted(answered) == sorted(asked) and not answer.missing


@few
@given(trees, st.data(), st.integers(1, 200), st.integers(0, 2), st.booleans())
def test_no_budget_is_exceeded_and_the_least_one_works(
    tree: Tree, data: st.DataObject, budget: int, around: int, enclosing: bool
) -> None:
    count = tokenizers.get().count
    with folder(tree) as root, memory_engine(root) as engine:
        if asked := askable(engine, data):
            request = GetRequest(ids=tuple(asked), around=around, enclosing=enclosing, budget=budget)
            answer = run(engine, request)
            assert answer.used_tokens == count("".join(chunk.text for chunk in answer.chunks)) <= budget
            assert bool(answer.min_tokens) == (not answer.chunks)
            assert answer.min_tokens == 0 or answer.min_tokens > budget


@few
@given(trees, st.data(), st.integers(0, 3))
def test_widened_answers_hold_what_was_asked_for(tree: Tree, data: st.DataObject, around: int) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        for name in askable(engine, data):
            (plain,) = run(engine, GetRequest(ids=(name,))).chunks
            (wide,) = run(engine, GetRequest(ids=(name,), around=around, enclosing=True)).chunks
            assert wide.start_line <= plain.start_line and plain.end_line <= wide.end_line
            assert plain.text in wide.text and wide.path == plain.path


@few
@given(trees, st.data(), st.integers(1, 3))
def test_no_two_widened_answers_share_a_line(tree: Tree, data: st.DataObject, around: int) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        if asked := askable(engine, data):
            chunks = run(engine, GetRequest(ids=tuple(asked), around=around)).chunks
            lines = [
                (item.path, line) for item in chunks for line in range(item.start_line, item.end_line + 1)
            ]
            assert len(set(lines)) == len(lines)
