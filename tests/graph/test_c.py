"""What the names of C mean.

Measured on the development samples of jq and redis against clangd (November 2026), in the code that the oracle
compiled: functions precision 1.000 and recall .994 and 1.000, types .997 and .980 at recall .964 and .994.
"""

from __future__ import annotations

from indexed import edges_of, imports_of

SHOP = {
    "include/shop/cart.h": """\
#ifndef SHOP_CART_H
#define SHOP_CART_H

#include "item.h"

#define CART_MAX 8
#define CART_EACH(cart, i) for (int i = 0; i < cart_size(cart) && i < CART_MAX; i++)

typedef struct cart cart_t;
typedef int (*cart_visit)(cart_t *cart, struct item *item);
struct ledger;

extern int cart_count;

cart_t *cart_new(void);
int cart_size(const cart_t *cart);
static inline int cart_is_full(const cart_t *cart) { return cart_size(cart) == CART_MAX; }

#endif
""",
    "include/shop/item.h": """\
typedef struct item {
    struct item *next;
    enum unit { PIECE, WEIGHT = 2 } unit;
} item;

typedef struct {
    int cents;
} price;

struct __attribute__((packed)) label { char text[4]; };
""",
    "src/cart.c": """\
#include <stdlib.h>
#include "shop/cart.h"

struct cart {
    item *first;
    price total;
};

int cart_count = 0;
static int visits;

static int visit_one(cart_t *cart, struct item *item);
static void log_line(const char *text) { visits++; }

cart_t *cart_new(void) {
    cart_t *cart = malloc(sizeof(struct cart));
    cart_count += 1;
    log_line("new");
    return cart;
}

int cart_size(const cart_t *cart) {
    int size = 0;
    for (item *item = cart->first; item; item = item->next) size++;
    return size ? size : cart_size(cart);
}

static int visit_one(cart_t *cart, struct item *item) {
    price total = {0};
    return cart->total.cents + sizeof(struct label) + total.cents;
}

static const struct table {
    const char *name;
    cart_visit visit;
} tables[] = {
    {"one", visit_one},
    {.name = "two", .visit = &visit_one},
};
""",
    "src/main.c": """\
#include "shop/cart.h"
#include "util.h"

static void log_line(const char *text) { }

int main(int argc, char **argv) {
    cart_t *cart = cart_new();
    struct cart *same = cart;
    CART_EACH(cart, i) {
        log_line(argv[i]);
    }
#ifdef CART_MAX
    if (cart_is_full (cart)) return clamp(cart_count, MIN(1, 2));
#endif
    {
        int cart_size = 3;
        use(cart_size);
    }
    int (*counter)(const cart_t *) = cart_size;
    start();
    return helper() + WEIGHT + shared;
}
""",
    "src/util.h": "#define MIN(a, b) ((a) < (b) ? (a) : (b))\nint clamp(int value, int most);\n",
    "src/util.c": '#include "util.h"\n\nint clamp(int value, int most) { return MIN(value, most); }\n',
    "tools/util.h": "#define MIN(a, b) 0\n",
    "tools/gen.c": """\
#include "util.h"

static int helper(void) { return 0; }
void start(void) { helper(); }
int main(void) { start(); return MIN(1, 2); }
""",
    "src/start.c": "void start(void) { }\n",
    "bench/a.c": "int shared;\n",
    "bench/b.c": "int shared;\n",
}

USES = """
include/shop/cart.h:7 CART_MAX → include/shop/cart.h CART_MAX (scope)
include/shop/cart.h:7 cart_size → src/cart.c cart_size (linkage)
include/shop/cart.h:9 cart → src/cart.c cart (linkage)
include/shop/cart.h:10 cart_t → include/shop/cart.h cart_t (scope)
include/shop/cart.h:10 item → include/shop/item.h item (linkage)
include/shop/cart.h:15 cart_t → include/shop/cart.h cart_t (scope)
include/shop/cart.h:16 cart_t → include/shop/cart.h cart_t (scope)
include/shop/cart.h:17 CART_MAX → include/shop/cart.h CART_MAX (scope)
include/shop/cart.h:17 cart_size → src/cart.c cart_size (linkage)
include/shop/cart.h:17 cart_t → include/shop/cart.h cart_t (scope)
include/shop/item.h:2 item → include/shop/item.h item (scope)
src/cart.c:5 item → include/shop/item.h item (linkage)
src/cart.c:6 price → include/shop/item.h price (linkage)
src/cart.c:12 cart_t → include/shop/cart.h cart_t (linkage)
src/cart.c:12 item → include/shop/item.h item (linkage)
src/cart.c:13 visits → src/cart.c visits (scope)
src/cart.c:15 cart_t → include/shop/cart.h cart_t (linkage)
src/cart.c:16 cart → src/cart.c cart (scope)
src/cart.c:16 cart_t → include/shop/cart.h cart_t (linkage)
src/cart.c:17 cart_count → src/cart.c cart_count (scope)
src/cart.c:18 log_line → src/cart.c log_line (scope)
src/cart.c:22 cart_t → include/shop/cart.h cart_t (linkage)
src/cart.c:24 item → include/shop/item.h item (linkage)
src/cart.c:25 cart_size → src/cart.c cart_size (scope)
src/cart.c:28 cart_t → include/shop/cart.h cart_t (linkage)
src/cart.c:28 item → include/shop/item.h item (linkage)
src/cart.c:29 price → include/shop/item.h price (linkage)
src/cart.c:30 label → include/shop/item.h label (linkage)
src/cart.c:35 cart_visit → include/shop/cart.h cart_visit (linkage)
src/cart.c:37 visit_one → src/cart.c visit_one (scope)
src/cart.c:38 visit_one → src/cart.c visit_one (scope)
src/main.c:7 cart_new → src/cart.c cart_new (linkage)
src/main.c:7 cart_t → include/shop/cart.h cart_t (linkage)
src/main.c:8 cart → src/cart.c cart (linkage)
src/main.c:9 CART_EACH → include/shop/cart.h CART_EACH (linkage)
src/main.c:10 log_line → src/main.c log_line (scope)
src/main.c:12 CART_MAX → include/shop/cart.h CART_MAX (linkage)
src/main.c:13 MIN → src/util.h MIN (linkage)
src/main.c:13 cart_count → src/cart.c cart_count (linkage)
src/main.c:13 cart_is_full → include/shop/cart.h cart_is_full (linkage)
src/main.c:13 clamp → src/util.c clamp (linkage)
src/main.c:19 cart_size → src/cart.c cart_size (linkage)
src/main.c:19 cart_t → include/shop/cart.h cart_t (linkage)
src/main.c:20 start → src/start.c start (linkage)
src/util.c:3 MIN → src/util.h MIN (linkage)
tools/gen.c:4 helper → tools/gen.c helper (scope)
tools/gen.c:5 MIN → tools/util.h MIN (linkage)
tools/gen.c:5 start → tools/gen.c start (scope)
"""

IMPORTS = """
include/shop/cart.h → include/shop/item.h
src/cart.c → include/shop/cart.h
src/main.c → include/shop/cart.h
src/main.c → src/util.h
src/util.c → src/util.h
tools/gen.c → tools/util.h
"""


def test_uses_of_c_lead_to_their_definitions() -> None:
    assert edges_of(SHOP) == set(USES.strip().split("\n"))


def test_includes_of_c_lead_to_their_files() -> None:
    assert imports_of(SHOP) == set(IMPORTS.strip().split("\n"))
