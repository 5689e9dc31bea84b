#ifndef TIMING_WHEEL_H
#define TIMING_WHEEL_H
/* A timing wheel: events at known cycles. Adding or taking an event costs a few host instructions. A bitmap of occupied
 * slots finds the next event, so that idle cycles can be skipped. */
#include "isa/hot_assert.h"
#include "timing/config/table_size.h"
#include <stdbool.h>
#include <stdint.h>

enum { WHEEL_SLOTS = TABLE_SIZE(512, 64), WHEEL_NONE = 0xffffffffu };

struct wheel_event {
    uint64_t cycle;
    uint32_t what; /* value of the owner */
    uint32_t next; /* index of the slot's next event, or of the next free entry */
};

/* A timing wheel. The free entries of the pool form a list, which begins at `free`. It ends with entry `fresh` and all
 * entries after it. These have never been used and are not initialised: most of a large pool is never touched. */
struct wheel {
    uint32_t head[WHEEL_SLOTS];
    uint64_t used[WHEEL_SLOTS / 64]; /* bit s is set if slot s may have events */
    struct wheel_event *pool;
    uint32_t free, fresh, cap, n;
};

/* Allocates room for `cap` events. Returns false if memory is out. */
bool wheel_init(struct wheel *w, uint32_t cap);
void wheel_free(struct wheel *w);
static inline bool wheel_full(const struct wheel *w) { return w->n == w->cap; }
/* Adds an event. Requires that the wheel is not full and that `cycle` is later than the cycle of the last event
 * taken. */
static inline void wheel_add(struct wheel *w, uint64_t cycle, uint32_t what) {
    hot_assert(w->free < w->cap);
    uint32_t i = w->free, slot = cycle % WHEEL_SLOTS;
    struct wheel_event *e = &w->pool[i];
    w->free = i == w->fresh ? ++w->fresh : e->next;
    *e = (struct wheel_event){cycle, what, w->head[slot]};
    w->head[slot] = i;
    w->used[slot / 64] |= 1ull << (slot % 64);
    w->n++;
}
/* Removes the event whose index is *at. `at` is the head of a slot's list or the `next` of an event in it. */
static inline void wheel_take_at(struct wheel *w, uint32_t *at, uint32_t *what) {
    uint32_t i = *at;
    struct wheel_event *e = &w->pool[i];
    *what = e->what;
    *at = e->next;
    e->next = w->free;
    w->free = i;
    w->n--;
}
/* Works like wheel_take(), for the case that the first event of the slot may belong to a later revolution of the
 * wheel. */
bool wheel_take_behind(struct wheel *w, uint64_t now, uint32_t *what);
/* Removes the event of cycle `now` that was added last, and stores it in *what. Returns false if the cycle has no
 * event left. No cycle with events may be skipped. */
static inline bool wheel_take(struct wheel *w, uint64_t now, uint32_t *what) {
    uint32_t slot = now % WHEEL_SLOTS, first = w->head[slot];
    if (first == WHEEL_NONE) {
        w->used[slot / 64] &= ~(1ull << slot % 64);
        return false;
    }
    if (__builtin_expect(w->pool[first].cycle != now, 0)) {
        uint32_t behind; /* a local variable, so that the compiler keeps *what in a register */
        bool found = wheel_take_behind(w, now, &behind);
        *what = found ? behind : 0;
        return found;
    }
    wheel_take_at(w, &w->head[slot], what);
    return true;
}
/* Returns true if `cycle` may have an event. As in wheel_next(), the event may belong to a later cycle. */
static inline bool wheel_has(const struct wheel *w, uint64_t cycle) {
    return w->head[cycle % WHEEL_SLOTS] != WHEEL_NONE;
}
/* Returns the earliest cycle > now that may have an event; UINT64_MAX if the wheel is empty. If an event is more
 * than WHEEL_SLOTS cycles ahead, the result may be too early, but it is never too late. */
uint64_t wheel_next(const struct wheel *w, uint64_t now);
#endif
