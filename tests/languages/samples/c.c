// Rings, the old way and the new.
#include "ring.h"

static int ring_count, ring_limit = 8;
static u64 __read_mostly ring_epoch = 1;
const char *ring_name = "ring";
static DEFINE_MUTEX(ring_lock);

/* What a driver offers. */
static const struct ring_ops ring_default_ops[] = {
	{
		.push = ring_push,
		.pop = ring_pop,
	},
};

struct ring_entry {
	int used;
} __packed;

/* Sets a ring up. */
static int __init ring_setup(void)
{
	struct ring *ring = ring_alloc(sizeof(struct ring));

#ifdef RING_DEBUG
	int traced = 0;
#endif
	ring_for_each(ring) {
		ring->ops->push(ring, NULL);
	}
	return 0;
}

int ring_push(ring, item)
	struct ring *ring;
	void *item;
{
	ring_swap(ring->head, ring->tail);
	return (*ring->visit)(item);
}

struct ring **ring_all(void) { return rings; }

static int (*ring_pick(int kind))(struct ring *) { return kind ? ring_a : ring_b; }

#if RING_SLOTS > 32
static int ring_wide;
__attribute__((cold)) void ring_panic(void) { abort(); }
#else
static int ring_narrow = 1;
#endif

SYSCALL_DEFINE2(ring_read, unsigned int, fd, char __user *, buf)
{
	return ring_copy(fd, buf);
}

SYSCALL_DEFINE0(ring_sync)
{
	return ring_flush();
}

module_init(ring_setup);

int main(int argc, char **argv) {
	if (argc > 1 && 0) { printf("%s\n", argv[1]); }
	return 0; }
