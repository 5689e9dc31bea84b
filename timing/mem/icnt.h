#ifndef TIMING_ICNT_H
#define TIMING_ICNT_H
/* One network of the crossbar: packets of flits from inputs to outputs. An input offers the packet at the head of its
 * queue (so a packet that waits holds up those behind it); an output grants one of those offered to it, round-robin.
 *
 * The switch works in steps, `speedup` of them a cycle. A packet of n flits has its input and its output for n + 1
 * steps: one in which the only virtual channel is allocated to it, then a flit a step (so with two steps a cycle,
 * 1, 1.5 and 2.5 cycles for 1, 2 and 4 flits). Links take a flit a cycle: the one into an input, so that a packet's
 * last flit may still be on its way when the first has gone on, and the one behind an output, with a buffer of `buffer`
 * flits before it. The network adds a latency to all that. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ICNT_PORTS = 256, ICNT_WORDS = ICNT_PORTS / 64, ICNT_HEADER_BYTES = 8, ICNT_CYCLES = 64 };

struct icnt_shape {
    uint32_t inputs, outputs; /* up to ICNT_PORTS */
    uint32_t latency, flit_bytes;
    uint32_t speedup; /* steps of the switch a cycle */
    uint32_t buffer;  /* flits */
};

struct icnt_grant {
    uint16_t input, output;
    uint64_t arrival; /* cycle the last flit is at the far end */
};

/* An input, and the packet that it offers if it does. */
struct icnt_input {
    uint64_t time;  /* step at which its side of the switch is free, and its offer may go */
    uint64_t link;  /* cycle its link has brought all that was offered */
    uint64_t ready; /* cycle of the offer, as it was made */
    uint16_t flits;
    bool offers;
};

struct icnt_output {
    uint64_t due;  /* step at which it can grant something if it has room, or earlier; UINT64_MAX: no offer */
    uint64_t time; /* step at which it is free */
    uint64_t link; /* cycle its link has sent all that was granted */
    uint64_t want[ICNT_WORDS]; /* inputs that offer to it */
    uint32_t room;             /* packets it may still take */
    uint16_t turn;             /* input that is asked first */
};

/* Outputs share nothing, for an input offers to one of them only: each knows when it can grant something, and is called
 * for then. */
struct icnt_counts {
#define COUNT_FIELDS
#include "icnt_stats.def"
};

struct icnt {
    struct icnt_shape shape;
    uint32_t words; /* of a set */
    uint32_t offers;
    uint64_t next; /* cycle at which something may be granted, or earlier; UINT64_MAX: not before an offer or room */
    uint64_t now;  /* of the last tick: what is to be called for lies in [now, now + ICNT_CYCLES) */
    uint64_t busy; /* cycles, modulo ICNT_CYCLES, whose set is not empty */
    uint64_t set[ICNT_CYCLES][ICNT_WORDS];
    struct icnt_input in[ICNT_PORTS];
    _Alignas(64) struct icnt_output out[ICNT_PORTS];
    struct icnt_counts n; /* of one direction; the fields are the same for both */
};

/* Every output takes `room` packets until icnt_give_room(); UINT32_MAX: any number. */
void icnt_init(struct icnt *x, const struct icnt_shape *shape, uint32_t room);
/* Flits of a packet with `payload` bytes. */
static inline uint32_t icnt_flits(const struct icnt *x, uint32_t payload) {
    uint32_t bytes = payload + ICNT_HEADER_BYTES;
    return bytes <= x->shape.flit_bytes ? 1 : (bytes + x->shape.flit_bytes - 1) / x->shape.flit_bytes;
}
/* Input `in`, which has no offer, offers a packet from cycle `ready` on, which is later than the last tick. */
void icnt_offer(struct icnt *x, uint32_t in, uint32_t out, uint32_t flits, uint64_t ready);
/* Packets that output `out` may still take: a tick grants no more than `speedup`. */
static inline uint32_t icnt_room(const struct icnt *x, uint32_t out) { return x->out[out].room; }
/* Output `out` can take one more packet, at `now`. */
void icnt_give_room(struct icnt *x, uint32_t out, uint64_t now);
/* One cycle, in all its steps: fills `grants` (room for one an input) and returns how many. The granted offers are
 * gone. */
int icnt_tick(struct icnt *x, uint64_t now, struct icnt_grant *grants);
#endif
