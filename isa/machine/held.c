/* Records the held stores of a warp, and performs them later (held.h). */
#include "held.h"
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, FEW_LANES = 8 };

/* One store of a warp, followed by the bytes of all 32 lanes. */
struct record {
    uintptr_t base;
    rowmask_t lanes;
    uint16_t bytes; /* bytes per lane */
    bool unit;
    /* host address offsets of the lanes; if `unit` is set, only the offset of lane 0 is used */
    uint64_t addr[WARP_LANES];
};

static size_t data_bytes(const struct record *r) { return (size_t)r->bytes * WARP_LANES; }

static size_t record_bytes(const struct record *r) {
    size_t n = (r->unit ? offsetof(struct record, addr[1]) : sizeof *r) + data_bytes(r);
    return (n + 15) & ~(size_t)15;
}

static unsigned char *data_of(const struct record *r) {
    return (unsigned char *)(uintptr_t)r + (r->unit ? offsetof(struct record, addr[1]) : sizeof *r);
}

void held_free(struct held_stores *h) {
    free(h->records);
    *h = (struct held_stores){0};
}

static uint64_t lines_of(uintptr_t base, const uint64_t *addr, bool unit, rowmask_t lanes, unsigned bytes) {
    uint64_t lines = 0;
    if (unit) {
        for (uintptr_t at = base + addr[0], end = at + (uintptr_t)bytes * WARP_LANES; at < end; at += LINE)
            lines |= 1ull << at / LINE % 64;
        return lines | 1ull << (base + addr[0] + (uintptr_t)bytes * WARP_LANES - 1) / LINE % 64;
    }
    if (__builtin_popcount(lanes) <= FEW_LANES) {
        for (; lanes; lanes &= lanes - 1)
            lines |= 1ull << (base + addr[__builtin_ctz(lanes)]) / LINE % 64;
        return lines;
    }
    /* The loop includes idle lanes: an idle lane has the address of an executing lane, so it adds no other bit. No
     * lane's store crosses a 128-byte line, so one bit per lane is enough. */
    for (int l = 0; l < WARP_LANES; l++)
        lines |= 1ull << (base + addr[l]) / LINE % 64;
    return lines;
}

static bool make_room(struct held_stores *h, size_t bytes) {
    if (h->room - h->used >= bytes)
        return true;
    size_t room = h->room ? 2 * h->room : 1 << 16;
    unsigned char *more = realloc(h->records, room);
    if (!more)
        return false;
    h->records = more;
    h->room = room;
    return true;
}

unsigned char *held_add(struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, rowmask_t lanes,
                        unsigned bytes) {
    if (!make_room(h, sizeof(struct record) + (size_t)bytes * WARP_LANES + 16))
        return NULL;
    struct record *r = (struct record *)(void *)(h->records + h->used);
    r->base = base;
    r->lanes = lanes;
    r->bytes = (uint16_t)bytes;
    r->unit = unit;
    if (unit)
        r->addr[0] = addr[0];
    else
        memcpy(r->addr, addr, sizeof r->addr);
    h->used += record_bytes(r);
    h->lines |= lines_of(base, addr, unit, lanes, bytes);
    return data_of(r);
}

bool held_touches(const struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, rowmask_t lanes,
                  unsigned bytes) {
    return (h->lines & lines_of(base, addr, unit, lanes, bytes)) != 0;
}

/* Copies the bytes of [from, from + n) that are inside [at, at + bytes) to `to`. */
static void overlay(uintptr_t from, const unsigned char *data, size_t n, uintptr_t at, unsigned char *to,
                    unsigned bytes) {
    uintptr_t begin = from > at ? from : at, end = from + n < at + bytes ? from + n : at + bytes;
    if (begin < end)
        memcpy(to + (begin - at), data + (begin - from), end - begin);
}

void held_read(const struct held_stores *h, const unsigned char *at, unsigned char *to, unsigned bytes) {
    memcpy(to, at, bytes);
    for (size_t i = 0; i < h->used;) {
        const struct record *r = (const struct record *)(const void *)(h->records + i);
        const unsigned char *data = data_of(r);
        i += record_bytes(r);
        if (r->unit) {
            overlay(r->base + r->addr[0], data, data_bytes(r), (uintptr_t)at, to, bytes);
            continue;
        }
        for (rowmask_t m = r->lanes; m; m &= m - 1) {
            int l = __builtin_ctz(m);
            overlay(r->base + r->addr[l], data + (size_t)l * r->bytes, r->bytes, (uintptr_t)at, to, bytes);
        }
    }
}

static inline __attribute__((always_inline)) void perform_lanes(const struct record *r, const unsigned char *data,
                                                                size_t bytes) {
    for (rowmask_t m = r->lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        memcpy((unsigned char *)r->base + r->addr[l], data + (size_t)l * bytes, bytes);
    }
}

void held_perform(struct held_stores *h) {
    for (size_t i = 0; i < h->used;) {
        const struct record *r = (const struct record *)(const void *)(h->records + i);
        const unsigned char *data = data_of(r);
        i += record_bytes(r);
        if (r->unit)
            memcpy((unsigned char *)r->base + r->addr[0], data, data_bytes(r));
        else if (r->bytes == 4)
            perform_lanes(r, data, 4);
        else
            perform_lanes(r, data, r->bytes);
    }
    h->used = 0;
    h->lines = 0;
}
