#ifndef TIMING_ICNT_H
#define TIMING_ICNT_H
/* One network of the crossbar: moves packets of flits from inputs to outputs. An input offers the packet at the head of
 * its queue, so a waiting packet blocks the packets behind it. An output grants one of the packets offered to it,
 * round-robin.
 *
 * The switch works in steps, with `speedup` steps per cycle. A packet of n flits holds its input and its output for
 * n + 1 steps: one step to allocate the only virtual channel, then one step per flit. With two steps per cycle,
 * packets of 1, 2 and 4 flits take 1, 1.5 and 2.5 cycles. Links carry one flit per cycle. There is a link into each
 * input: the first flit of a packet may move on while the last is still on the link. There is a link after each
 * output, with a buffer of `buffer` flits before it. The network adds a latency. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ICNT_PORTS = 256, ICNT_WORDS = ICNT_PORTS / 64, ICNT_HEADER_BYTES = 8, ICNT_CYCLES = 64 };

struct icnt_shape {
    uint32_t inputs, outputs; /* up to ICNT_PORTS */
    uint32_t latency, flit_bytes;
    uint32_t speedup; /* steps of the switch per cycle */
    uint32_t buffer;  /* flits */
    bool again;       /* peer.icnt_again: an input may send several packets in a cycle, to ascending outputs */
};

struct icnt_grant {
    uint16_t input, output;
    uint64_t arrival; /* cycle at which the last flit arrives at the far end */
};

/* An input, and the packet that it offers, if any. */
struct icnt_input {
    uint64_t time;  /* first step in which the input's side of the switch is free and the packet can be granted */
    uint64_t link;  /* cycle by which the input's link has delivered all flits of the offered packets */
    uint64_t ready; /* cycle from which the packet was offered */
    uint16_t flits;
    bool offers;
    uint16_t sent_to; /* output of the last packet, which was granted in cycle `sent_in`; both for shape.again */
    uint64_t sent_in;
};

struct icnt_output {
    /* A step that is not later than the output's next grant. If the output has room, it is the step of that grant.
     * UINT64_MAX if no input offers a packet. */
    uint64_t due;
    uint64_t time;             /* first step in which its side of the switch is free */
    uint64_t link;             /* cycle by which its link has sent all granted flits */
    uint64_t want[ICNT_WORDS]; /* inputs that offer a packet to it */
    uint32_t room;             /* number of packets that the output can still accept */
    uint16_t turn;             /* input with the highest priority */
};

struct icnt_counts {
#define COUNT_FIELDS
#include "icnt_stats.def"
};

/* A network. An input offers to only one output, so outputs are independent. The network knows the step of each
 * output's next grant, and schedules the output for this step. */
struct icnt {
    struct icnt_shape shape;
    uint32_t words; /* number of words of a set of ports in use */
    uint32_t offers;
    /* cycle of the next possible grant, or an earlier cycle; UINT64_MAX if a grant needs a new offer or more room
     * first */
    uint64_t next;
    uint64_t now;  /* cycle of the last tick; scheduled cycles are in [now, now + ICNT_CYCLES) */
    uint64_t busy; /* bit mask of the cycles, modulo ICNT_CYCLES, that have a scheduled output */
    uint64_t set[ICNT_CYCLES][ICNT_WORDS];
    struct icnt_input in[ICNT_PORTS];
    _Alignas(64) struct icnt_output out[ICNT_PORTS];
    struct icnt_counts n; /* counts of this network; both networks have the same fields */
};

/* Initialises a network. Every output accepts `room` packets until icnt_give_room(). UINT32_MAX means no limit. */
void icnt_init(struct icnt *x, const struct icnt_shape *shape, uint32_t room);
/* Returns the number of flits in a packet with `payload` bytes. */
static inline uint32_t icnt_flits(const struct icnt *x, uint32_t payload) {
    uint32_t bytes = payload + ICNT_HEADER_BYTES;
    return bytes <= x->shape.flit_bytes ? 1 : (bytes + x->shape.flit_bytes - 1) / x->shape.flit_bytes;
}
/* Offers a packet at input `in` from cycle `ready` on. The input must not have an offer already, and `ready` must be
 * later than the last tick. */
void icnt_offer(struct icnt *x, uint32_t in, uint32_t out, uint32_t flits, uint64_t ready);
/* Returns the number of packets that output `out` may still accept. A tick grants at most `speedup` packets per
 * output. */
static inline uint32_t icnt_room(const struct icnt *x, uint32_t out) { return x->out[out].room; }
/* Adds room for one packet at output `out`, at `now`. */
void icnt_give_room(struct icnt *x, uint32_t out, uint64_t now);
/* Runs all steps of one cycle: writes the grants (at most one per input) to `grants`, and returns their number.
 * Granted offers are removed. With shape.again, the caller then offers the next packets of these inputs, and calls the
 * function again for the same cycle, until there is no grant. */
int icnt_tick(struct icnt *x, uint64_t now, struct icnt_grant *grants);
#endif
