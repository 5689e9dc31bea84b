/* Register allocation. Vector registers hold lines of the warp's registers; the least recently used line is
 * replaced. */
#include "compile.h"
#include <string.h>

static struct place line_place(uint32_t key) { return at(key & 1 ? BANK1 : BANK0, key & ~1u); }

/* Returns the key of line i of an operand. A constant has one line, since all lanes are alike. */
static uint32_t key_of(const struct compiler *c, opnd_t o, unsigned i) {
    return o & 1 ? (o >> 1 | 1) : (o >> 1) + i * line_bytes(c);
}

/* Emits a store of the line `h`, which is in vector register `v`, if the line is dirty. Code for a partial warp
 * computes all lanes, but stores only active ones. */
void line_store(struct compiler *c, struct held_line *h, unsigned v) {
    struct emit *e = &c->e;
    if (h->any_nan)
        lanes_canonical_nan(e, v);
    h->any_nan = false;
    if (h->dirty && c->partial)
        lanes_store_active(e, v, line_place(h->key), h->index, h->size);
    else if (h->dirty)
        emit_vector_mem(e, V_STORE, v, 0, line_place(h->key), WHOLE);
    h->dirty = false;
}

/* Marks vector register v dirty, since it holds line i of the current instruction's destination. */
static void mark_written(struct compiler *c, unsigned v, unsigned i) {
    const struct inst *in = inst_of(c);
    c->held[v].dirty = true;
    c->held[v].flushed = false;
    c->held[v].index = (uint8_t)i;
    c->held[v].size = in->kind == K_LOAD ? in->rsize : in->dsize;
}

/* Returns the vector registers that hold `key`, one bit each. */
static uint32_t registers_with(const struct compiler *c, uint32_t key) {
    uint32_t bits = 0;
    for (unsigned v = 0; v < N_VECTORS; v++)
        bits |= (uint32_t)(c->keys[v] == key) << v;
    return bits;
}

/* Returns a free vector register. If all are in use, returns the least recently used register that is not pinned. */
static unsigned victim(const struct compiler *c) {
    unsigned best = 0;
    uint32_t none = registers_with(c, NO_LINE) & c->vectors;
    if (none)
        return (unsigned)__builtin_ctz(none);
    for (unsigned v = 0; v < N_VECTORS; v++) {
        if ((c->vectors & ~c->pinned) >> v & 1 && (!best || c->held[v].used < c->held[best].used))
            best = v;
    }
    return best;
}

/* Returns the vector register that holds `key` and sets *had. Otherwise stores the line of another vector register and
 * assigns that register. */
static unsigned find_register(struct compiler *c, uint32_t key, bool *had) {
    uint32_t bits = registers_with(c, key);
    *had = bits != 0;
    if (bits)
        return (unsigned)__builtin_ctz(bits);
    unsigned v = victim(c);
    if (c->held[v].key != NO_LINE)
        line_store(c, &c->held[v], v);
    c->held[v] = (struct held_line){.key = key};
    c->keys[v] = key;
    return v;
}

static unsigned pin(struct compiler *c, unsigned v) {
    c->pinned |= 1u << v;
    c->held[v].used = ++c->clock;
    return v;
}

unsigned line_get(struct compiler *c, opnd_t o, unsigned i, bool any_nan) {
    bool had;
    uint32_t key = key_of(c, o, i);
    unsigned v = find_register(c, key, &had);
    if (!had)
        emit_vector_mem(&c->e, V_LOAD, v, 0, line_place(key), WHOLE);
    if (c->held[v].any_nan && !any_nan) {
        lanes_canonical_nan(&c->e, v);
        c->held[v].any_nan = false;
    }
    return pin(c, v);
}

unsigned line_new(struct compiler *c, opnd_t d, unsigned i, bool any_nan) {
    bool had;
    unsigned v = find_register(c, key_of(c, d, i), &had);
    mark_written(c, v, i);
    c->held[v].any_nan = any_nan;
    return pin(c, v);
}

void line_modified(struct compiler *c, opnd_t d, unsigned i) {
    uint32_t bits = registers_with(c, key_of(c, d, i));
    if (bits)
        mark_written(c, (unsigned)__builtin_ctz(bits), i);
}

unsigned line_temporary(struct compiler *c, unsigned i) {
    enum { BEHIND_ALL = 0xffffff00 }; /* first key of temporary lines, above the keys of all registers of the warp */
    bool had;
    return pin(c, find_register(c, BEHIND_ALL + 2 * i, &had));
}

void lines_write_back(struct compiler *c, opnd_t o, unsigned size) {
    for (unsigned i = 0; i < lines_of(c, size); i++) {
        uint32_t bits = registers_with(c, key_of(c, o, i));
        if (bits)
            line_store(c, &c->held[__builtin_ctz(bits)], (unsigned)__builtin_ctz(bits));
    }
}

static void drop(struct compiler *c, uint32_t bits) {
    if (!bits)
        return;
    c->held[__builtin_ctz(bits)] = (struct held_line){.key = NO_LINE};
    c->keys[__builtin_ctz(bits)] = NO_LINE;
}

void lines_drop(struct compiler *c, opnd_t d, unsigned size) {
    for (unsigned i = 0; i < lines_of(c, size); i++)
        drop(c, registers_with(c, key_of(c, d, i)));
}

void line_rename(struct compiler *c, unsigned v, opnd_t d, unsigned i) {
    uint32_t key = key_of(c, d, i);
    drop(c, registers_with(c, key));
    c->held[v].key = c->keys[v] = key;
    mark_written(c, v, i);
}

void lines_unpin(struct compiler *c) { c->pinned = 0; }

void lines_store(struct compiler *c) {
    for (unsigned v = 0; v < N_VECTORS; v++)
        if (c->held[v].key != NO_LINE && c->held[v].dirty)
            line_store(c, &c->held[v], v);
}

void lines_forget(struct compiler *c) {
    for (unsigned v = 0; v < N_VECTORS; v++)
        c->held[v] = (struct held_line){.key = NO_LINE};
    memset(c->keys, 0xff, sizeof c->keys);
}
