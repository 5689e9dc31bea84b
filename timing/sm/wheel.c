#include "wheel.h"
#include "isa/machine/lazy.h"
#include <assert.h>
#include <string.h>

bool wheel_init(struct wheel *w, uint32_t cap) {
    *w = (struct wheel){.cap = cap};
    memset(w->head, 0xff, sizeof w->head);
    w->pool = lazy_new(cap * sizeof *w->pool);
    return w->pool != NULL;
}

void wheel_free(struct wheel *w) {
    lazy_free(w->pool);
    w->pool = NULL;
}

bool wheel_take_behind(struct wheel *w, uint64_t now, uint32_t *what) {
    uint32_t slot = now % WHEEL_SLOTS;
    for (uint32_t *at = &w->head[slot]; *at != WHEEL_NONE; at = &w->pool[*at].next)
        if (w->pool[*at].cycle == now) {
            wheel_take_at(w, at, what);
            return true;
        }
    return false;
}

uint64_t wheel_next(const struct wheel *w, uint64_t now) {
    enum { WORDS = WHEEL_SLOTS / 64 };
    if (!w->n)
        return UINT64_MAX;
    uint32_t from = (uint32_t)((now + 1) % WHEEL_SLOTS);
    uint64_t word = w->used[from / 64] >> (from % 64);
    if (word)
        return now + 1 + (unsigned)__builtin_ctzll(word);
    for (uint32_t k = 1; k <= WORDS; k++) {
        uint32_t i = (from / 64 + k) % WORDS;
        if (w->used[i])
            return now + 1 + (k * 64 - from % 64) + (unsigned)__builtin_ctzll(w->used[i]);
    }
    return UINT64_MAX;
}
