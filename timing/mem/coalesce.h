#ifndef TIMING_COALESCE_H
#define TIMING_COALESCE_H
/* The coalescer: turns the byte addresses of a warp's lanes into requests for memory lines.
 *
 * Lanes that touch the same line share one request. Accesses wider than 4 bytes per lane are split into parts, as in
 * hardware (CUDA C Programming Guide 3.x, G.4.2, compute capability 2.x): accesses of 8 bytes per lane into half warps,
 * of 16 bytes into quarter warps, and of more bytes into parts of 4 lanes. A part with adjacent lanes then never needs
 * more than one line. Parts do not share requests. */
#include "isa/machine/shape.h"

enum {
    SECTOR_BYTES = 32,
    LINE_BYTES_MAX = 256,
    /* The largest number of requests: 64 bytes per lane of local memory, with each word of each lane in its own
     * line. */
    COALESCE_MAX = 16 * MAX_WARP_LANES,
};

struct coalesced {
    uint64_t line;    /* address of the line, a multiple of the line size */
    lanemask_t lanes; /* lanes that access the line */
    uint16_t bytes;   /* distinct bytes touched, at most the size of the line */
    uint8_t sectors;  /* bit s is set if some of the 32 bytes at 32 * s are touched */
    uint8_t full;     /* sectors in which every byte is touched */
    uint8_t same;     /* largest number of lanes with the same address (an atomic serialises these lanes); at least 1 */
};

struct coalescer {
    uint32_t line_bytes; /* power of two, 32..LINE_BYTES_MAX */
    bool split_wide;     /* true if accesses of 8 and 16 bytes per lane are split into half and quarter warps */
};

/* Makes the requests of `lanes`, in the order of their lowest lane. Lane l touches [addr[l], addr[l] + bytes). Returns
 * the number of requests, which is 0 only if `lanes` is empty. `bytes` is 1 to 64. */
int coalesce(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
             struct coalesced out[COALESCE_MAX]);
/* Works like coalesce(), but faster, for lanes with a known shape. Requires a shape other than SHAPE_ANY. `bytes` must
 * be a power of two, and at most the size of a line. */
int coalesce_halves(const struct coalescer *c, const struct halves *h, lanemask_t lanes, unsigned bytes,
                    struct coalesced out[COALESCE_MAX]);
/* Works like coalesce(), for atomics: also sets `same`. */
int coalesce_atomic(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                    struct coalesced out[COALESCE_MAX]);
/* Splits an atomic into requests of `c->line_bytes`. Within a request, no two lanes touch the same byte. A lane joins
 * the first request of its segment whose bytes are still free. */
int coalesce_atomic_lanes(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                          struct coalesced out[COALESCE_MAX]);
/* Widens a write to its whole segment: the smallest aligned block of 32, 64 or 128 bytes that holds all touched
 * sectors of the line. (A block of 64 bytes is one half of 128.) `full` does not change. */
void coalesce_widen(struct coalesced *r);
/* Makes the requests of an access to local memory, which is interleaved: word w of lane l is at local_base + w * stride
 * + l * 4, so that lanes with equal offsets touch one line per word. `offset` has the byte offset of each lane;
 * `stride` is a multiple of 128. */
int coalesce_local(const struct coalescer *c, uint64_t local_base, uint64_t stride, const uint64_t *offset,
                   lanemask_t lanes, unsigned bytes, struct coalesced out[COALESCE_MAX]);
#endif
