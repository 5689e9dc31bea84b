#include "icnt.h"
#include "isa/arith.h"
#include <assert.h>
#include <string.h>

static void put(uint64_t *set, uint32_t i) { set[i / 64] |= 1ull << i % 64; }
static void drop(uint64_t *set, uint32_t i) { set[i / 64] &= ~(1ull << i % 64); }
static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }

void icnt_init(struct icnt *x, const struct icnt_shape *shape, uint32_t room) {
    assert(shape->inputs <= ICNT_PORTS && shape->outputs <= ICNT_PORTS && shape->speedup && room);
    memset(x, 0, sizeof *x);
    x->shape = *shape;
    x->words = ((shape->inputs > shape->outputs ? shape->inputs : shape->outputs) + 63) / 64;
    x->next = x->wake = NEVER;
    for (uint32_t o = 0; o < shape->outputs; o++) {
        x->room[o] = room;
        put(x->out_room, o);
    }
}

uint32_t icnt_flits(const struct icnt *x, uint32_t payload) {
    uint32_t bytes = payload + ICNT_HEADER_BYTES;
    return bytes <= x->shape.flit_bytes ? 1 : (bytes + x->shape.flit_bytes - 1) / x->shape.flit_bytes;
}

static uint64_t cycle_of(const struct icnt *x, uint64_t step) {
    return step == NEVER ? NEVER : x->shape.speedup == 2 ? step >> 1 : step / x->shape.speedup;
}

static void wake_at(struct icnt *x, uint64_t step) {
    x->wake = min64(x->wake, step);
    x->next = min64(x->next, cycle_of(x, step));
}

void icnt_offer(struct icnt *x, uint32_t in, uint32_t out, uint32_t flits, uint64_t ready) {
    assert(!x->offered[in] && flits);
    x->offered[in] = true;
    x->ready[in] = ready;
    x->dest[in] = (uint16_t)out;
    x->flits[in] = (uint16_t)flits;
    uint64_t head = max64(x->in_link[in], ready); /* its first flit is at the switch */
    x->in_link[in] = head + flits;
    x->in_time[in] = max64(x->in_time[in], head * x->shape.speedup);
    put(x->in_waits, in);
    put(x->want[out], in);
    put(x->active, out);
    wake_at(x, max64(x->in_time[in], x->out_time[out]));
}

void icnt_give_room(struct icnt *x, uint32_t out, uint64_t now) {
    if (x->room[out]++)
        return;
    put(x->out_room, out);
    if (has(x->active, out))
        x->next = min64(x->next, now);
}

/* Inputs whose time has come by step `now` stop waiting. */
static inline void release(struct icnt *x, uint64_t now, uint32_t words) {
    x->wake = NEVER;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t ready = 0;
        for (uint64_t m = x->in_waits[w]; m; m &= m - 1) {
            uint64_t time = x->in_time[w * 64 + (uint32_t)__builtin_ctzll(m)];
            ready |= time <= now ? m & -m : 0;
            x->wake = min64(x->wake, time <= now ? NEVER : time);
        }
        x->in_waits[w] &= ~ready;
        x->in_ready[w] |= ready;
    }
}

/* The input whose turn it is among the ready ones that offer to `out`, of which there is one at least. `turn` is the
 * first to ask. */
static inline uint32_t choose(const struct icnt *x, uint32_t out, uint32_t turn, uint32_t words) {
    uint32_t first = ICNT_PORTS;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t m = x->want[out][w] & x->in_ready[w];
        if (!m)
            continue;
        if (first == ICNT_PORTS)
            first = w * 64 + (uint32_t)__builtin_ctzll(m);
        if (turn >= (w + 1) * 64)
            continue;
        uint64_t later = turn > w * 64 ? m >> turn % 64 << turn % 64 : m;
        if (later)
            return w * 64 + (uint32_t)__builtin_ctzll(later);
    }
    return first;
}

static inline bool wanted(const struct icnt *x, uint32_t out, uint32_t words) {
    uint64_t any = 0;
    for (uint32_t w = 0; w < words; w++)
        any |= x->want[out][w];
    return any != 0;
}

/* The packet that `in` offers goes to `out`, from step `step` on. */
static inline struct icnt_grant pass(struct icnt *x, uint32_t in, uint32_t out, uint64_t step, uint32_t words) {
    uint32_t flits = x->flits[in], speedup = x->shape.speedup;
    uint64_t now = cycle_of(x, step);
    x->n.packets++;
    x->n.flits += flits;
    x->n.stall_cycles += now - x->ready[in];
    x->offered[in] = false;
    drop(x->in_ready, in);
    drop(x->want[out], in);
    if (!wanted(x, out, words))
        drop(x->active, out);
    x->turn[out] = (uint16_t)(in + 1 == x->shape.inputs ? 0 : in + 1);
    /* The packet's last flit comes a cycle before in_link, and takes a step like the others. */
    uint64_t free = max64(step + flits + 1, (x->in_link[in] - 1) * speedup + 1);
    uint64_t link = max64(max64(now, x->link_free[out]) + flits, x->in_link[in]);
    x->in_time[in] = free;
    x->link_free[out] = link;
    free = max64(free, link > x->shape.buffer ? (link - x->shape.buffer) * speedup : 0);
    x->out_time[out] = free;
    if (has(x->active, out))
        x->wake = min64(x->wake, free);
    if (x->room[out] != UINT32_MAX && --x->room[out] == 0)
        drop(x->out_room, out);
    return (struct icnt_grant){(uint16_t)in, (uint16_t)out, link - 1 + x->shape.latency};
}

/* Outputs that some ready input offers to, and that have room. */
static inline void find_outputs(const struct icnt *x, uint64_t *outs, uint32_t words) {
    for (uint32_t w = 0; w < words; w++)
        outs[w] = 0;
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t m = x->in_ready[w]; m; m &= m - 1)
            put(outs, x->dest[w * 64 + (uint32_t)__builtin_ctzll(m)]);
    for (uint32_t w = 0; w < words; w++)
        outs[w] &= x->out_room[w];
}

static inline __attribute__((always_inline)) int tick(struct icnt *x, uint64_t now, struct icnt_grant *grants,
                                                      uint32_t words) {
    uint64_t outs[ICNT_WORDS], step = now * x->shape.speedup, end = step + x->shape.speedup;
    int n = 0;
    do {
        if (x->wake <= step)
            release(x, step, words);
        find_outputs(x, outs, words);
        for (uint32_t w = 0; w < words; w++)
            for (uint64_t m = outs[w]; m; m &= m - 1) {
                uint32_t out = w * 64 + (uint32_t)__builtin_ctzll(m);
                if (x->out_time[out] > step) {
                    x->wake = min64(x->wake, x->out_time[out]);
                    continue;
                }
                grants[n++] = pass(x, choose(x, out, x->turn[out], words), out, step, words);
            }
        step = max64(step + 1, x->wake);
    } while (step < end);
    x->next = cycle_of(x, x->wake);
    return n;
}

/* Most crossbars have no more than 64 ports; the compiler makes that case simple. */
int icnt_tick(struct icnt *x, uint64_t now, struct icnt_grant *grants) {
    return x->words == 1 ? tick(x, now, grants, 1) : tick(x, now, grants, x->words);
}
