"""Stack frames of each language, and the order of calls."""

from __future__ import annotations

import pytest

from satchel.retrieval.query import parse_query
from satchel.retrieval.tracebacks import Frame, find_frames

FRAMES = [
    ('  File "app/models.py", line 12, in save', Frame("app/models.py", 12, "save")),
    ('  File "C:\\My App\\models.py", line 12', Frame("C:/My App/models.py", 12, "")),
    ('E     File "app/models.py", line 12, in <module>', Frame("app/models.py", 12, "")),
    ('ERROR> File "app/models.py", line 12, in save', Frame("app/models.py", 12, "save")),
    ("app/models.py:12: in save", Frame("app/models.py", 12, "save")),
    ("File ~/app/models.py:12, in Model.save(self)", Frame("~/app/models.py", 12, "save")),
    ("~/app/models.py in save(self, force)", Frame("~/app/models.py", 0, "save")),
    ("\tat com.shop.Cart.add(Cart.java:12)", Frame("com/shop/Cart.java", 12, "add")),
    ("\tat java.base/com.shop.Cart$Item.<init>(Cart.java:12)", Frame("com/shop/Cart.java", 12, "Item")),
    ("  at com.shop.Cart.lambda$add$0(Cart.java:12)", Frame("com/shop/Cart.java", 12, "add")),
    ("\tat com.shop.CartKt.add(Cart.kt:12)", Frame("com/shop/Cart.kt", 12, "add")),
    ("\tat shop.Cart$.add(Cart.scala:12)", Frame("shop/Cart.scala", 12, "add")),
    ("    at async Cart.add (/srv/src/cart.ts:12:5)", Frame("/srv/src/cart.ts", 12, "add")),
    ("    at new Cart (src\\cart.js:12:5)", Frame("src/cart.js", 12, "Cart")),
    ("    at Object.<anonymous> (src/cart.jsx:12:5)", Frame("src/cart.jsx", 12, "Object")),
    ("    at Cart.add [as put] (src/cart.js:12:5)", Frame("src/cart.js", 12, "add")),
    ("    at file:///srv/cart.mjs:12:5", Frame("srv/cart.mjs", 12, "")),
    ("add@http://localhost:3000/src/cart.vue?t=1:12:5", Frame("src/cart.vue", 12, "add")),
    ("\tfrom lib/cart.rb:12:in `block (2 levels) in add'", Frame("lib/cart.rb", 12, "add")),
    ("lib/cart.rb:12:in 'Cart#valid?': no cart (KeyError)", Frame("lib/cart.rb", 12, "valid?")),
    ("     # ./spec/cart_spec.rb:12", Frame("./spec/cart_spec.rb", 12, "")),
    (
        "shop.(*Cart).Add(0xc0, {0x1, 0x2})\n\t/srv/shop/cart.go:12 +0x1d",
        Frame("/srv/shop/cart.go", 12, "Add"),
    ),
    ("created by shop.Run(...)\n\t/srv/shop/cart.go:12", Frame("/srv/shop/cart.go", 12, "Run")),
    ("./cart.go:12:5: undefined: total", Frame("./cart.go", 12, "")),
    ("   3: shop::cart::Cart<T>::add\n             at ./src/cart.rs:12:5", Frame("./src/cart.rs", 12, "add")),
    ("thread 'main' panicked at src/cart.rs:12:5:", Frame("src/cart.rs", 12, "")),
    ("thread 'main' panicked at 'no, 'none'', src/cart.rs:12:5", Frame("src/cart.rs", 12, "")),
    ("  --> src/cart.rs:12:5", Frame("src/cart.rs", 12, "")),
    ("#0 /srv/src/Cart.php(12): Shop\\Cart->add(Object)", Frame("/srv/src/Cart.php", 12, "add")),
    ("PHP Fatal error:  no cart in /srv/src/Cart.php on line 12", Frame("/srv/src/Cart.php", 12, "")),
    ("#3  0x00005f in add (cart=0x0, n=1) at src/cart.c:12", Frame("src/cart.c", 12, "add")),
    ("    #3 0x5f in shop::Cart::add(int) /srv/cart.cc:12:5", Frame("/srv/cart.cc", 12, "add")),
    ("==1==    by 0x4005F: add (cart.c:12)", Frame("cart.c", 12, "add")),
    ("src/cart.cpp:12:5: error: no member", Frame("src/cart.cpp", 12, "")),
    ("src\\cart.cpp(12): error C2065: total", Frame("src/cart.cpp", 12, "")),
    ("In file included from src/cart.h:12,", Frame("src/cart.h", 12, "")),
    ("   at Shop.Cart.Add(Int32 n) in C:\\shop\\Cart.cs:line 12", Frame("C:/shop/Cart.cs", 12, "Add")),
    ("Cart.cs(12,5): error CS0103: total", Frame("Cart.cs", 12, "")),
    ("    (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.add/2", Frame("lib/shop/cart.ex", 12, "add")),
    ("    lib/cart.exs:12: anonymous fn/1 in Cart.add/2", Frame("lib/cart.exs", 12, "add")),
]


@pytest.mark.parametrize(("line", "frame"), FRAMES, ids=[line.strip()[:40] for line, _ in FRAMES])
def test_a_frame_is_read_in_the_manner_of_its_language(line: str, frame: Frame) -> None:
    assert [found.frame for found in find_frames(f"It crashes\n{line}\nand stops")] == [frame]


@pytest.mark.parametrize(
    "line",
    [
        'File "<stdin>", line 1, in <module>',
        "look at cart.java:12 today",
        "at node:internal/main:12:5",
        "at 12:30 we stop",
        "see src/cart.py",
    ],
)
def test_a_line_without_a_source_place_is_no_frame(line: str) -> None:
    assert find_frames(f"It crashes\n{line}\n.py .js: .java") == []


def functions(trace: str) -> list[str]:
    return [frame.function for frame in parse_query(f"It crashes\n{trace}").frames]


def test_python_prints_the_deepest_call_last() -> None:
    assert functions('  File "a.py", line 1, in outer\n    inner()\n  File "b.py", line 2, in inner') == [
        "outer",
        "inner",
    ]


@pytest.mark.parametrize(
    "trace",
    [
        "\tat a.B.inner(B.java:2)\n\tat a.A.outer(A.java:1)",
        "    at inner (b.js:2:1)\n    at outer (a.js:1:1)",
        "b.rb:2:in `inner': no\n\tfrom a.rb:1:in `outer'",
        "main.inner()\n\t/b.go:2\nmain.outer()\n\t/a.go:1",
        "#0 /b.php(2): inner()\n#1 /a.php(1): outer()",
        "#0 inner () at b.c:2\n#1 outer () at a.c:1",
    ],
)
def test_others_print_it_first_and_are_turned_round(trace: str) -> None:
    assert functions(trace) == ["outer", "inner"]


def test_a_trace_that_says_its_order_is_believed() -> None:
    said = "Thread 1 (most recent call first):\n"
    assert functions(said + '  File "b.py", line 2 in inner\n  File "a.py", line 1 in outer') == [
        "outer",
        "inner",
    ]
    said = "Traceback (most recent call last):\n"
    assert functions(said + "\t1: from a.rb:1:in `outer'\nb.rb:2:in `inner': no") == ["outer", "inner"]


def test_a_cause_is_deeper_than_what_it_caused() -> None:
    trace = "\tat a.A.outer(A.java:1)\nCaused by: a.Failure: no\n\tat a.C.root(C.java:3)\n\tat a.B.inner(B.java:2)\n\t... 1 more"
    assert functions(trace) == ["outer", "inner", "root"]


def test_of_repeated_frames_the_deepest_is_kept() -> None:
    place = "in /srv/Cart.php on line 12"
    trace = f"Fatal error: no cart {place}\n#0 /srv/a.php(1): outer()\n  thrown {place}"
    assert [frame.path for frame in parse_query(f"It crashes\n{trace}").frames] == [
        "/srv/a.php",
        "/srv/Cart.php",
    ]


def test_frames_are_code_without_a_fence() -> None:
    query = parse_query(
        "It crashes\nThe call fails like this\n  at inner (src/b.js:2:1)\nwhen the cart is empty"
    )
    assert query.code.strip() == "at inner (src/b.js:2:1)" and "when the cart" in query.prose
