"""Where definitions overlap, which only broken files have, every line is still in one chunk."""

from __future__ import annotations

from exactness import assert_exact

from satchel.chunking import parse_source


def test_an_element_that_ends_after_the_one_it_is_in_takes_no_line_twice() -> None:
    filler = "so that the sections inside it become chunks " * 170
    inside = f'    <section id="voices">\r  <main id=content>\r{filler}\r    <!-- What others say. -->\r'
    text = f"<head>\r{inside}</head>\r"
    assert_exact(text, parse_source(text, "html").chunks)
