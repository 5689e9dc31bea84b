#ifndef TIMING_COALESCE_H
#define TIMING_COALESCE_H
/* The coalescer: the byte addresses of a warp's lanes become requests for memory lines.
 *
 * Lanes that touch the same line share one request. Accesses wider than 4 bytes a lane go in parts, as the hardware
 * does (CUDA C Programming Guide 3.x, G.4.2, compute capability 2.x): 8 bytes a lane by half warps, 16 bytes by quarter
 * warps, so that a part never wants more than one line when its lanes are adjacent. Parts do not share requests. */
#include "isa/machine/shape.h"

enum {
    SECTOR_BYTES = 32,
    LINE_BYTES_MAX = 256,
    /* The worst there is: 64 bytes a lane of local memory, each lane and word in a line of its own. */
    COALESCE_MAX = 16 * WARP_LANES,
};

struct coalesced {
    uint64_t line;    /* address of the line, a multiple of the line size */
    lanemask_t lanes; /* lanes that want something of it */
    uint16_t bytes;   /* distinct bytes touched, at most the line */
    uint8_t sectors;  /* bit s: the 32 bytes at 32 * s are touched */
    uint8_t full;     /* sectors of which every byte is touched */
    uint8_t same;     /* most lanes that name one and the same address (what atomics serialise by); 1 at least */
};

struct coalescer {
    uint32_t line_bytes; /* power of two, 32..LINE_BYTES_MAX */
    bool split_wide;     /* 8 and 16 bytes a lane go by half and quarter warps */
};

/* Requests of the lanes `lanes`, each of which touches [addr[lane], addr[lane] + bytes), in the order of their lowest
 * lane. Returns how many; 0 only without lanes. `bytes` is 1..64. */
int coalesce(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
             struct coalesced out[COALESCE_MAX]);
/* The same where the lanes have a shape, and are so known without a look at each. Not of SHAPE_ANY; `bytes` is a power
 * of two, up to the line. */
int coalesce_halves(const struct coalescer *c, const struct halves *h, lanemask_t lanes, unsigned bytes,
                    struct coalesced out[COALESCE_MAX]);
/* As coalesce(), for atomics: `same` is filled in. */
int coalesce_atomic(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                    struct coalesced out[COALESCE_MAX]);
/* Atomics as requests of `c->line_bytes`, in each of which no two lanes touch one byte: a lane joins the first request
 * of its segment whose bytes are still free. */
int coalesce_atomic_lanes(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                          struct coalesced out[COALESCE_MAX]);
/* A write of a request's whole segment: the 32, 64 or 128 aligned bytes of a line (64 only as one half of 128) that
 * hold all sectors touched. `full` stays. */
void coalesce_widen(struct coalesced *r);
/* Local memory is interleaved: word w of lane l of a warp is at local_base + w * stride + l * 4, so that lanes at equal
 * offsets touch one line a word. `offset` are the lanes' own byte offsets; `stride` is a multiple of 128. */
int coalesce_local(const struct coalescer *c, uint64_t local_base, uint64_t stride, const uint64_t *offset,
                   lanemask_t lanes, unsigned bytes, struct coalesced out[COALESCE_MAX]);
#endif
