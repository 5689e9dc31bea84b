#include "icnt.h"
#include <assert.h>
#include <string.h>

void icnt_init(struct icnt *x, const struct icnt_shape *shape, uint32_t room) {
    assert(shape->inputs <= ICNT_PORTS && shape->outputs <= ICNT_PORTS && shape->speedup);
    memset(x, 0, sizeof *x);
    x->shape = *shape;
    for (uint32_t o = 0; o < shape->outputs; o++)
        x->room[o] = room;
}

uint32_t icnt_flits(const struct icnt *x, uint32_t payload) {
    return (payload + ICNT_HEADER_BYTES + x->shape.flit_bytes - 1) / x->shape.flit_bytes;
}

void icnt_offer(struct icnt *x, uint32_t in, uint32_t out, uint32_t flits, uint64_t ready) {
    assert(!x->offered[in] && flits);
    x->offered[in] = true;
    x->ready[in] = ready;
    x->dest[in] = (uint16_t)out;
    x->flits[in] = (uint16_t)flits;
    x->want[out][in / 64] |= 1ull << in % 64;
    x->active[out / 64] |= 1ull << out % 64;
}

static uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* First cycle at which `out` can grant anything. */
static uint64_t output_ready(const struct icnt *x, uint32_t out) {
    if (!x->room[out])
        return UINT64_MAX;
    uint64_t link = x->link_free[out] > x->shape.buffer ? x->link_free[out] - x->shape.buffer : 0;
    return max64(x->out_free[out], link);
}

static uint64_t input_ready(const struct icnt *x, uint32_t in) { return max64(x->ready[in], x->in_free[in]); }

/* The input whose turn it is among those that offer to `out` now; -1: none. */
static int choose(const struct icnt *x, uint32_t out, uint64_t now) {
    uint32_t turn = x->turn[out];
    int best = -1;
    uint32_t best_distance = UINT32_MAX;
    for (uint32_t w = 0; w * 64 < x->shape.inputs; w++)
        for (uint64_t m = x->want[out][w]; m; m &= m - 1) {
            uint32_t in = w * 64 + (uint32_t)__builtin_ctzll(m);
            uint32_t distance = in >= turn ? in - turn : in + ICNT_PORTS - turn;
            if (input_ready(x, in) <= now && distance < best_distance) {
                best = (int)in;
                best_distance = distance;
            }
        }
    return best;
}

static struct icnt_grant pass(struct icnt *x, uint32_t in, uint32_t out, uint64_t now) {
    uint32_t flits = x->flits[in], cycles = (flits + x->shape.speedup - 1) / x->shape.speedup;
    x->n.packets++;
    x->n.flits += flits;
    x->n.stall_cycles += now - x->ready[in];
    x->offered[in] = false;
    x->want[out][in / 64] &= ~(1ull << in % 64);
    uint64_t left = 0;
    for (uint32_t w = 0; w * 64 < x->shape.inputs; w++)
        left |= x->want[out][w];
    if (!left)
        x->active[out / 64] &= ~(1ull << out % 64);
    x->turn[out] = (uint16_t)(in + 1 == x->shape.inputs ? 0 : in + 1);
    x->in_free[in] = x->out_free[out] = now + cycles;
    x->link_free[out] = max64(now, x->link_free[out]) + flits;
    x->room[out]--;
    return (struct icnt_grant){(uint16_t)in, (uint16_t)out, x->link_free[out] - 1 + x->shape.latency};
}

int icnt_tick(struct icnt *x, uint64_t now, struct icnt_grant *grants) {
    int n = 0;
    for (uint32_t w = 0; w * 64 < x->shape.outputs; w++)
        for (uint64_t m = x->active[w]; m; m &= m - 1) {
            uint32_t out = w * 64 + (uint32_t)__builtin_ctzll(m);
            if (output_ready(x, out) > now)
                continue;
            int in = choose(x, out, now);
            if (in >= 0)
                grants[n++] = pass(x, (uint32_t)in, out, now);
        }
    return n;
}

uint64_t icnt_next(const struct icnt *x, uint64_t now) {
    uint64_t next = UINT64_MAX;
    for (uint32_t w = 0; w * 64 < x->shape.outputs; w++)
        for (uint64_t m = x->active[w]; m; m &= m - 1) {
            uint32_t out = w * 64 + (uint32_t)__builtin_ctzll(m);
            uint64_t at = output_ready(x, out), first = UINT64_MAX;
            if (at == UINT64_MAX)
                continue;
            for (uint32_t v = 0; v * 64 < x->shape.inputs; v++)
                for (uint64_t i = x->want[out][v]; i; i &= i - 1) {
                    uint64_t t = input_ready(x, v * 64 + (uint32_t)__builtin_ctzll(i));
                    first = t < first ? t : first;
                }
            at = max64(at, first);
            next = at < next ? at : next;
        }
    return next > now ? next : now;
}
