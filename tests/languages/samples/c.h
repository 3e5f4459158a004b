/* SPDX-License-Identifier: MIT */
#ifndef SHOP_RING_H
#define SHOP_RING_H

#include <stddef.h>
#include "shop/list.h"

/* How many slots a ring has. */
#define RING_SLOTS 64
#define RING_MASK  (RING_SLOTS - 1)
#define RING_STATIC

/* Next slot after @i. */
#define ring_next(i) (((i) + 1) & RING_MASK)
#define ring_swap(a, b) \
	do { \
		int tmp = (a); (a) = (b); (b) = tmp; \
	} while (0)

struct list;
typedef unsigned long ring_index;
typedef int (*ring_visit)(struct ring *ring, void *item);
typedef struct list ring_list;

/**
 * struct ring - a queue without locks
 */
struct ring {
	ring_index head, tail;
	struct list *items;
	union slot {
		void *item;
		unsigned long raw;
	} slots[RING_SLOTS];
};

typedef struct ring_stats {
	size_t pushed;
} ring_stats;

typedef struct _ring_options {
	int flags;
} ring_options_t, *ring_options_p;

enum ring_state { RING_EMPTY, RING_FULL };

int ring_push(struct ring *ring, void *item);
extern const char *ring_name;

#ifdef __cplusplus
extern "C" {
#endif
static inline int ring_empty(const struct ring *ring)
{
	return ring->head == ring->tail;
}
#ifdef __cplusplus
}
#endif

#endif /* SHOP_RING_H */
