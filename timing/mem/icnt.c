#include "icnt.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include <assert.h>
#include <string.h>

static void put(uint64_t *set, uint32_t i) { set[i / 64] |= 1ull << i % 64; }
static void drop(uint64_t *set, uint32_t i) { set[i / 64] &= ~(1ull << i % 64); }

void icnt_init(struct icnt *x, const struct icnt_shape *shape, uint32_t room) {
    assert(shape->inputs <= ICNT_PORTS && shape->outputs <= ICNT_PORTS && shape->speedup && room);
    memset(x, 0, sizeof *x);
    x->shape = *shape;
    x->words = ((shape->inputs > shape->outputs ? shape->inputs : shape->outputs) + 63) / 64;
    x->next = NEVER;
    for (uint32_t o = 0; o < shape->outputs; o++) {
        x->out[o].due = NEVER;
        x->out[o].room = room;
    }
}

static uint64_t cycle_of(const struct icnt *x, uint64_t step) {
    return x->shape.speedup == 2 ? step >> 1 : step / x->shape.speedup;
}

/* Returns the first cycle whose set is not empty. Requires that there is such a cycle. */
static inline uint64_t first_busy(const struct icnt *x) {
    uint32_t at = x->now % ICNT_CYCLES;
    return x->now + (uint32_t)__builtin_ctzll(x->busy >> at | x->busy << (ICNT_CYCLES - at) % ICNT_CYCLES);
}

/* Schedules output `out` for step `due`, or for an earlier step if `due` is beyond the end of the ring. */
static inline void schedule(struct icnt *x, uint32_t out, uint64_t due) {
    uint64_t cycle = min64(max64(cycle_of(x, due), x->now), x->now + ICNT_CYCLES - 1);
    x->busy |= 1ull << cycle % ICNT_CYCLES;
    put(x->set[cycle % ICNT_CYCLES], out);
    x->next = min64(x->next, cycle);
}

void icnt_offer(struct icnt *x, uint32_t in, uint32_t out, uint32_t flits, uint64_t ready) {
    struct icnt_input *i = &x->in[in];
    struct icnt_output *o = &x->out[out];
    hot_assert(!i->offers && flits);
    /* cycle in which the packet's first flit is at the switch */
    uint64_t head =
        x->shape.again ? max64(ready, x->now + (i->sent_in == x->now && out <= i->sent_to)) : max64(i->link, ready);
    i->offers = true;
    x->offers++;
    i->ready = ready;
    i->flits = (uint16_t)flits;
    i->link = head + flits;
    i->time = max64(i->time, head * x->shape.speedup);
    put(o->want, in);
    o->due = min64(o->due, max64(i->time, o->time));
    if (o->room)
        schedule(x, out, o->due);
}

void icnt_give_room(struct icnt *x, uint32_t out, uint64_t now) {
    struct icnt_output *o = &x->out[out];
    if (o->room++ == 0 && o->due != NEVER)
        schedule(x, out, max64(o->due, now * x->shape.speedup));
}

/* Sets `ready` to the inputs that offer a packet to output `o` and can send it by `step`. Returns the earliest step
 * in which one of the other inputs can send, or NEVER if no other input offers. */
static inline uint64_t find_ready(const struct icnt *x, const struct icnt_output *o, uint64_t step, uint64_t *ready,
                                  uint32_t words) {
    uint64_t later = NEVER;
    for (uint32_t w = 0; w < words; w++) {
        ready[w] = 0;
        for (uint64_t m = o->want[w]; m; m &= m - 1) {
            uint64_t time = x->in[w * 64 + (uint32_t)__builtin_ctzll(m)].time;
            ready[w] |= time <= step ? m & -m : 0;
            later = min64(later, time <= step ? NEVER : time);
        }
    }
    return later;
}

/* Picks an input of `ready`, round-robin: the first input from number `turn` on. Requires that `ready` is not empty. */
static inline uint32_t choose(const uint64_t *ready, uint32_t turn, uint32_t words) {
    uint32_t first = ICNT_PORTS;
    if (words == 1)
        return (turn + (uint32_t)__builtin_ctzll(ready[0] >> turn | ready[0] << (64 - turn) % 64)) % 64;
    for (uint32_t w = 0; w < words; w++) {
        if (!ready[w])
            continue;
        if (first == ICNT_PORTS)
            first = w * 64 + (uint32_t)__builtin_ctzll(ready[w]);
        if (turn >= (w + 1) * 64)
            continue;
        uint64_t later = turn > w * 64 ? ready[w] >> turn % 64 << turn % 64 : ready[w];
        if (later)
            return w * 64 + (uint32_t)__builtin_ctzll(later);
    }
    return first;
}

/* Moves the packet of `in` to `o`, from step `step` of cycle `now` on. Returns the cycle at which the last flit has
 * left the output. */
static inline uint64_t move_packet(struct icnt *x, struct icnt_input *in, struct icnt_output *o, uint64_t step,
                                   uint64_t now) {
    uint32_t flits = in->flits, speedup = x->shape.speedup;
    /* The input's link delivers the packet's last flit in cycle in->link - 1. Like every flit, the last flit then needs
     * one step at the switch. */
    uint64_t free = max64(step + flits + 1, (in->link - 1) * speedup + 1);
    uint64_t link = max64(max64(now, o->link) + flits, in->link);
    x->n.packets++;
    x->n.flits += flits;
    x->n.stall_cycles += now - in->ready;
    in->offers = false;
    x->offers--;
    in->time = x->shape.again ? 0 : free;
    o->link = link;
    o->time = max64(free, link > x->shape.buffer ? (link - x->shape.buffer) * speedup : 0);
    return link;
}

/* Returns the only input that offers a packet to output `o`, or ICNT_PORTS if several do. */
static inline uint32_t only_input(const struct icnt_output *o, uint32_t words) {
    uint32_t only = ICNT_PORTS;
    int n = 0;
    for (uint32_t w = 0; w < words; w++) {
        only = o->want[w] ? w * 64 + (uint32_t)__builtin_ctzll(o->want[w]) : only;
        n += __builtin_popcountll(o->want[w]);
    }
    return n == 1 ? only : ICNT_PORTS;
}

/* Picks the input whose packet output `o` grants in step `step`, removes its offer, and sets the step of the next
 * grant, as far as it depends on the other inputs. Most outputs have one offer, which can be granted. */
static inline uint32_t take_offer(const struct icnt *x, struct icnt_output *o, uint64_t step, uint32_t words) {
    uint64_t ready[ICNT_WORDS], left = 0;
    uint32_t in = only_input(o, words);
    if (in < ICNT_PORTS) {
        drop(o->want, in);
        o->due = NEVER;
        return in;
    }
    const uint64_t later = find_ready(x, o, step, ready, words);
    in = choose(ready, o->turn, words);
    drop(o->want, in);
    drop(ready, in);
    for (uint32_t w = 0; w < words; w++)
        left |= ready[w];
    o->due = left ? 0 : later;
    return in;
}

/* Grants an offer to output `out`, if possible, at step `step` of cycle `now`. */
static inline struct icnt_grant grant(struct icnt *x, uint32_t out, uint64_t step, uint64_t now, uint32_t words) {
    struct icnt_output *o = &x->out[out];
    const uint32_t in = take_offer(x, o, step, words);
    uint64_t link = move_packet(x, &x->in[in], o, step, now);
    x->in[in].sent_to = (uint16_t)out;
    x->in[in].sent_in = now;
    o->turn = (uint16_t)(in + 1 == x->shape.inputs ? 0 : in + 1);
    o->due = max64(o->due, o->time);
    o->room -= o->room != UINT32_MAX;
    return (struct icnt_grant){(uint16_t)in, (uint16_t)out, link - 1 + x->shape.latency};
}

/* Moves the outputs that are scheduled up to `now` from the ring to `outs`. */
static inline void take_scheduled(struct icnt *x, uint64_t now, uint64_t *outs, uint32_t words) {
    for (uint32_t w = 0; w < words; w++)
        outs[w] = 0;
    for (uint64_t c; x->busy && (c = first_busy(x)) <= now; x->busy &= ~(1ull << c % ICNT_CYCLES))
        for (uint32_t w = 0; w < words; w++) {
            outs[w] |= x->set[c % ICNT_CYCLES][w];
            x->set[c % ICNT_CYCLES][w] = 0;
        }
    x->now = now;
    x->next = x->busy ? first_busy(x) : NEVER;
}

static inline __attribute__((always_inline)) int tick(struct icnt *x, uint64_t now, struct icnt_grant *grants,
                                                      uint32_t words) {
    uint64_t outs[ICNT_WORDS], begin = now * x->shape.speedup, end = begin + x->shape.speedup;
    int n = 0;
    take_scheduled(x, now, outs, words);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t m = outs[w]; m; m &= m - 1) {
            uint32_t out = w * 64 + (uint32_t)__builtin_ctzll(m);
            const struct icnt_output *o = &x->out[out];
            while (o->due < end && o->room)
                grants[n++] = grant(x, out, max64(o->due, begin), now, words);
            if (o->room && o->due != NEVER)
                schedule(x, out, o->due);
        }
    /* without offers no output has work, although outputs may still be scheduled (some more than once) */
    if (!x->offers)
        x->next = NEVER;
    return n;
}

static __attribute__((noinline)) int tick_two(struct icnt *x, uint64_t now, struct icnt_grant *grants) {
    return tick(x, now, grants, 2);
}

static __attribute__((noinline, cold)) int tick_many(struct icnt *x, uint64_t now, struct icnt_grant *grants) {
    return tick(x, now, grants, x->words);
}

/* Performs one cycle of the crossbar and returns the number of grants. Most crossbars have at most 128 ports; a
 * constant `words` makes these cases fast. */
int icnt_tick(struct icnt *x, uint64_t now, struct icnt_grant *grants) {
    return x->words == 1   ? tick(x, now, grants, 1)
           : x->words == 2 ? tick_two(x, now, grants)
                           : tick_many(x, now, grants);
}
