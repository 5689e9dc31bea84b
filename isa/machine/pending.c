/* Stores the pending copies of a row, and lets them land (pending.h). */
#include "pending.h"
#include <stdlib.h>
#include <string.h>

enum { FEW = 8 };

struct copy {
    uint64_t number;
    uint32_t turn; /* turn of the warp in which the copy was issued */
    rowmask_t lanes;
    uint32_t bytes;             /* per lane */
    uint32_t to[WARP_LANES];    /* addresses in shared memory */
    uint32_t group[WARP_LANES]; /* number of each lane's open group when the copy was issued */
    unsigned char data[PENDING_BYTES];
};

struct pending_copies {
    uint64_t issued;
    uint32_t turn;
    uint32_t n, room;
    uint32_t group[WARP_LANES]; /* number of each lane's open group, which counts the groups before it */
    /* by position: the index of a copy in `copy`. The first n are pending, in the order of issue; the others are
     * unused. */
    uint16_t at[PENDING_MOST + 1];
    struct copy *copy;
};

void pending_free(struct pending_copies *p) {
    if (p)
        free(p->copy);
    free(p);
}

void pending_forget(struct warp *row) {
    struct pending_copies *p = row->copies;
    p->n = 0;
    p->issued = 0;
    memset(p->group, 0, sizeof p->group);
}

static bool grow(struct pending_copies *p) {
    const uint32_t most = PENDING_MOST + 1, room = p->room ? 2 * p->room : FEW, end = room < most ? room : most;
    struct copy *more = realloc(p->copy, end * sizeof *more);
    if (!more)
        return false;
    p->copy = more;
    for (; p->room < end; p->room++)
        p->at[p->room] = (uint16_t)p->room;
    return true;
}

/* Writes the data of `lanes` to shared memory. */
static void write_lanes(const struct warp *row, rowmask_t lanes, const uint32_t to[WARP_LANES], unsigned bytes,
                        const unsigned char *data) {
    unsigned char *shared = row->cta->shared;
    for (; lanes; lanes &= lanes - 1) {
        const int l = __builtin_ctz(lanes);
        if (bytes == 16)
            memcpy(shared + to[l], data + 16 * l, 16);
        else if (bytes == 8)
            memcpy(shared + to[l], data + 8 * l, 8);
        else
            memcpy(shared + to[l], data + 4 * l, 4);
    }
}

static void land(const struct warp *row, struct copy *c, rowmask_t lanes) {
    write_lanes(row, lanes, c->to, c->bytes, c->data);
    c->lanes &= ~lanes;
}

/* Makes the entries of copies without lanes unused, which are at position `from` or later. */
static void drop_landed(struct pending_copies *p, uint32_t from) {
    uint32_t kept = from;
    for (uint32_t i = from; i < p->n; i++) {
        const uint16_t at = p->at[i];
        if (!p->copy[at].lanes)
            continue;
        p->at[i] = p->at[kept];
        p->at[kept++] = at;
    }
    p->n = kept;
}

unsigned char *pending_room(struct warp *row, unsigned char spare[PENDING_BYTES]) {
    if (!row->copies)
        row->copies = calloc(1, sizeof *row->copies);
    struct pending_copies *p = row->copies;
    if (!p || (p->n == p->room && !grow(p)))
        return spare;
    return p->copy[p->at[p->n]].data;
}

void pending_add(struct warp *row, rowmask_t lanes, const uint64_t to[WARP_LANES], unsigned bytes,
                 const unsigned char *data) {
    struct pending_copies *p = row->copies;
    uint32_t address[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        address[l] = (uint32_t)to[l];
    if (!p || p->n == p->room || data != p->copy[p->at[p->n]].data) { /* memory is out: older copies land first */
        pending_exit(row, lanes);
        write_lanes(row, lanes, address, bytes, data);
        return;
    }
    struct copy *c = &p->copy[p->at[p->n++]];
    c->number = ++p->issued;
    c->turn = p->turn;
    c->lanes = lanes;
    c->bytes = bytes;
    memcpy(c->to, address, sizeof c->to);
    memcpy(c->group, p->group, sizeof c->group);
    if (p->n <= PENDING_MOST)
        return;
    land(row, &p->copy[p->at[0]], p->copy[p->at[0]].lanes);
    drop_landed(p, 0);
}

uint64_t pending_youngest(const struct warp *row) { return row->copies ? row->copies->issued : 0; }

/* Returns the lanes of copy `a` whose destination overlaps that of the same lane in copy `b`. */
static rowmask_t lanes_in_common(const struct copy *a, const struct copy *b) {
    rowmask_t found = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        found |= (rowmask_t)(a->to[l] - b->to[l] < b->bytes || b->to[l] - a->to[l] < a->bytes) << l;
    return found & a->lanes & b->lanes;
}

void pending_land(struct warp *row, uint64_t number) {
    struct pending_copies *p = row->copies;
    uint32_t i = 0;
    while (p && i < p->n && p->copy[p->at[i]].number != number)
        i++;
    if (!p || i == p->n)
        return;
    struct copy *c = &p->copy[p->at[i]];
    for (uint32_t k = 0; k < i; k++)
        land(row, &p->copy[p->at[k]], lanes_in_common(&p->copy[p->at[k]], c));
    land(row, c, c->lanes);
    drop_landed(p, 0);
}

void pending_commit(struct warp *row, rowmask_t lanes) {
    struct pending_copies *p = row->copies;
    for (unsigned l = 0; p && l < WARP_LANES; l++)
        p->group[l] += lanes >> l & 1;
}

/* Returns the lanes of a copy that land if `lanes` wait for all but `groups` groups. The copy is in one of a lane's n
 * youngest groups if at most n groups have been committed since its issue, its own group included. */
static rowmask_t lanes_to_land(const struct pending_copies *p, const struct copy *c, rowmask_t lanes, int64_t groups) {
    rowmask_t found = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        found |= (rowmask_t)((int64_t)(p->group[l] - c->group[l]) > groups) << l;
    return found & lanes & c->lanes;
}

void pending_wait(struct warp *row, rowmask_t lanes, int64_t groups) {
    struct pending_copies *p = row->copies;
    if (!p || !p->n)
        return;
    for (uint32_t i = 0; i < p->n; i++) {
        struct copy *c = &p->copy[p->at[i]];
        land(row, c, lanes_to_land(p, c, lanes, groups));
    }
    drop_landed(p, 0);
}

bool pending_is_fresh(const struct warp *row, rowmask_t lanes, int64_t groups) {
    const struct pending_copies *p = row->copies;
    for (uint32_t i = p ? p->n : 0; i-- > 0;) {
        const struct copy *c = &p->copy[p->at[i]];
        if (c->turn != p->turn)
            return false;
        if (lanes_to_land(p, c, lanes, groups))
            return true;
    }
    return false;
}

void pending_new_turn(struct warp *row) { row->copies->turn++; }

void pending_flush(struct cta *c) {
    for (uint32_t i = 0; i < c->n_rows; i++)
        pending_exit(&c->warps[i], LANES_ALL);
}
