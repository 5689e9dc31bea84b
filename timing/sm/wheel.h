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
    uint32_t next; /* next event of the slot; for a free entry see struct wheel */
};

/* The free entries of the pool are a list. The `next` of a free entry is its successor minus the entry after it. So 0
 * means the entry after it, and a new pool needs no initialisation. */
struct wheel {
    uint32_t head[WHEEL_SLOTS];
    uint64_t used[WHEEL_SLOTS / 64]; /* bit s: slot s may have events */
    struct wheel_event *pool;
    uint32_t free, cap, n;
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
    w->free = e->next + i + 1;
    *e = (struct wheel_event){cycle, what, w->head[slot]};
    w->head[slot] = i;
    w->used[slot / 64] |= 1ull << (slot % 64);
    w->n++;
}
/* Takes the event at *at, a link of a slot's list. */
static inline void wheel_take_at(struct wheel *w, uint32_t *at, uint32_t *what) {
    uint32_t i = *at;
    struct wheel_event *e = &w->pool[i];
    *what = e->what;
    *at = e->next;
    e->next = w->free - i - 1;
    w->free = i;
    w->n--;
}
/* Does what wheel_take() does, but the first event of the slot may belong to a later revolution of the wheel. */
bool wheel_take_behind(struct wheel *w, uint64_t now, uint32_t *what);
/* Takes one event of cycle `now`, the event added last first. Returns false when the cycle has no event left. Every
 * cycle with events must be taken. */
static inline bool wheel_take(struct wheel *w, uint64_t now, uint32_t *what) {
    uint32_t slot = now % WHEEL_SLOTS, first = w->head[slot];
    if (first == WHEEL_NONE) {
        w->used[slot / 64] &= ~(1ull << slot % 64);
        return false;
    }
    if (__builtin_expect(w->pool[first].cycle != now, 0)) {
        uint32_t behind; /* lets the compiler keep *what in a register */
        bool found = wheel_take_behind(w, now, &behind);
        *what = found ? behind : 0;
        return found;
    }
    wheel_take_at(w, &w->head[slot], what);
    return true;
}
/* Returns true if `cycle` may have an event: like wheel_next() for the cycle after its `now`. */
static inline bool wheel_has(const struct wheel *w, uint64_t cycle) {
    return w->head[cycle % WHEEL_SLOTS] != WHEEL_NONE;
}
/* Returns the earliest cycle > now that may have an event; UINT64_MAX when empty. With an event more than WHEEL_SLOTS
 * cycles ahead the result can be too early, but never too late. */
uint64_t wheel_next(const struct wheel *w, uint64_t now);
#endif
