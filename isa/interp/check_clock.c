/* Vector clocks as trees of fixed height. A node has FANOUT children, selected by four bits of the CTA number; a leaf
 * has the times of one CTA. */
#include "check_clock.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL_BITS = 4, FANOUT = 1 << LEVEL_BITS };

struct clock {
    uint32_t refs;
    bool leaf;
    union {
        struct clock *child[FANOUT]; /* NULL: empty */
        uint32_t time[FANOUT];       /* `entries` elements */
    };
};

void clocks_begin(struct clocks *k, uint64_t n_ctas, uint32_t entries) {
    *k = (struct clocks){.entries = entries};
    for (uint64_t n = 1; n < n_ctas && k->height < 32 / LEVEL_BITS; n <<= LEVEL_BITS)
        k->height++;
}

struct clock *clock_ref(struct clock *c) {
    if (c)
        c->refs++;
    return c;
}

void clock_unref(struct clock *c) {
    if (!c || --c->refs)
        return;
    for (int i = 0; !c->leaf && i < FANOUT; i++)
        clock_unref(c->child[i]);
    free(c);
}

static struct clock *new_leaf(struct clocks *k) {
    struct clock *c = malloc(offsetof(struct clock, time) + k->entries * sizeof c->time[0]);
    if (!c) {
        k->failed = true;
        return NULL;
    }
    c->refs = 1;
    c->leaf = true;
    return c;
}

/* Returns a node that takes over the ownership of the children. */
static struct clock *new_node(struct clocks *k, struct clock *const child[FANOUT]) {
    struct clock *c = malloc(sizeof *c);
    if (!c) {
        k->failed = true;
        for (int i = 0; i < FANOUT; i++)
            clock_unref(child[i]);
        return NULL;
    }
    c->refs = 1;
    c->leaf = false;
    memcpy(c->child, child, sizeof c->child);
    return c;
}

static struct clock *join_times(struct clocks *k, struct clock *have, const uint32_t *time) {
    bool later = false;
    for (uint32_t i = 0; have && i < k->entries; i++)
        later |= time[i] > have->time[i];
    if (have && !later)
        return clock_ref(have);
    struct clock *c = new_leaf(k);
    for (uint32_t i = 0; c && i < k->entries; i++)
        c->time[i] = have && have->time[i] > time[i] ? have->time[i] : time[i];
    return c;
}

static bool covers(const struct clocks *k, const struct clock *a, const struct clock *b) {
    bool yes = true;
    for (uint32_t i = 0; i < k->entries; i++)
        yes &= a->time[i] >= b->time[i];
    return yes;
}

/* Returns the entry-wise maximum of two clocks. Equal subtrees stay shared, so the cost depends on how much the two
 * clocks differ. */
struct clock *clock_join(struct clocks *k, struct clock *a, struct clock *b) {
    if (a == b || !b)
        return clock_ref(a);
    if (!a)
        return clock_ref(b);
    if (a->leaf)
        return covers(k, b, a) ? clock_ref(b) : join_times(k, a, b->time);
    struct clock *child[FANOUT];
    bool like_a = true, like_b = true;
    for (int i = 0; i < FANOUT; i++) {
        child[i] = clock_join(k, a->child[i], b->child[i]);
        like_a &= child[i] == a->child[i];
        like_b &= child[i] == b->child[i];
    }
    if (!like_a && !like_b)
        return new_node(k, child);
    for (int i = 0; i < FANOUT; i++)
        clock_unref(child[i]);
    return clock_ref(like_a ? a : b);
}

static struct clock *with(struct clocks *k, struct clock *c, uint32_t cta, const uint32_t *time, unsigned level) {
    if (!level)
        return join_times(k, c, time);
    struct clock *child[FANOUT] = {NULL};
    unsigned at = cta >> (level - 1) * LEVEL_BITS & (FANOUT - 1);
    if (c)
        memcpy(child, c->child, sizeof child);
    struct clock *changed = with(k, child[at], cta, time, level - 1);
    if (c && changed == child[at]) {
        clock_unref(changed);
        return clock_ref(c);
    }
    for (unsigned i = 0; i < FANOUT; i++)
        if (i != at)
            clock_ref(child[i]);
    child[at] = changed;
    return new_node(k, child);
}

struct clock *clock_with(struct clocks *k, struct clock *c, uint32_t cta, const uint32_t *time) {
    return with(k, c, cta, time, k->height);
}

const uint32_t *clock_of(const struct clocks *k, const struct clock *c, uint32_t cta) {
    for (unsigned level = k->height; c && level; level--)
        c = c->child[cta >> (level - 1) * LEVEL_BITS & (FANOUT - 1)];
    return c ? c->time : NULL;
}

void clock_add(struct clocks *k, struct clock **to, struct clock *c) {
    if (!c || *to == c)
        return;
    struct clock *joined = clock_join(k, *to, c);
    clock_unref(*to);
    *to = joined;
}

void clock_set(struct clock **to, struct clock *c) {
    clock_ref(c);
    clock_unref(*to);
    *to = c;
}
