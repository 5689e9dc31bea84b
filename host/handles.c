#include "handles.h"
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { PLACES = 64 };

/* A block of slots for handles. Blocks are never freed, since other threads may read them; empty slots are reused. */
struct places {
    atomic_uintptr_t place[PLACES]; /* the pointer, with its kind in the lowest bit; 0 in an empty slot */
    _Atomic(struct places *) next;
};

/* This table is the only state that contexts share. It cannot be part of a context, because an invalid handle has no
 * context. */
static struct places first;

static uintptr_t code_of(const void *p, enum handle_kind kind) { return (uintptr_t)p | (uintptr_t)kind; }

/* Stores `code` in the first slot that holds `old`. Returns false if no slot holds `old`. */
static bool replace(uintptr_t old, uintptr_t code) {
    for (struct places *s = &first; s; s = atomic_load(&s->next))
        for (int i = 0; i < PLACES; i++) {
            uintptr_t now = old;
            if (atomic_compare_exchange_strong(&s->place[i], &now, code))
                return true;
        }
    return false;
}

bool handle_open(const void *p, enum handle_kind kind) {
    while (!replace(0, code_of(p, kind))) {
        struct places *more = calloc(1, sizeof *more), *last = &first, *next = NULL;
        if (!more)
            return false;
        while (!atomic_compare_exchange_strong(&last->next, &next, more)) {
            last = next;
            next = NULL;
        }
    }
    return true;
}

void handle_close(const void *p, enum handle_kind kind) { replace(code_of(p, kind), 0); }

bool handle_is_open(const void *p, enum handle_kind kind) {
    uintptr_t code = code_of(p, kind);
    for (struct places *s = &first; p && s; s = atomic_load(&s->next))
        for (int i = 0; i < PLACES; i++)
            if (atomic_load_explicit(&s->place[i], memory_order_relaxed) == code)
                return true;
    return false;
}
