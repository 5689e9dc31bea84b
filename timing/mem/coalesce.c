#include "coalesce.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include <string.h>

/* Returns the number of lanes in each part of a warp, for an access of `bytes` bytes per lane. */
static unsigned part_lanes(const struct coalescer *c, unsigned bytes) {
    if (!c->split_wide || bytes <= 4)
        return WARP_LANES;
    return bytes <= 8 ? 16 : bytes <= 16 ? 8 : 4;
}

/* A request under construction: the bytes and the sectors of its line that lanes touch. */
struct touched {
    uint64_t byte[LINE_BYTES_MAX / 64];
    uint32_t sectors;
};

static inline void touch(struct touched *t, unsigned from, unsigned n) {
    t->sectors |= (2u << (from + n - 1) / SECTOR_BYTES) - (1u << from / SECTOR_BYTES);
    if ((from & 63) + n < 64) { /* common case */
        t->byte[from >> 6] |= ((1ull << n) - 1) << (from & 63);
        return;
    }
    while (n) {
        unsigned bit = from & 63, take = n < 64 - bit ? n : 64 - bit;
        t->byte[from >> 6] |= (take == 64 ? ~0ull : (1ull << take) - 1) << bit;
        from += take;
        n -= take;
    }
}

static inline void close_request(struct coalesced *r, const struct touched *t, unsigned line_bytes) {
    unsigned bytes = 0, full = 0;
    for (unsigned w = 0; w * 64 < line_bytes; w++)
        bytes += (unsigned)__builtin_popcountll(t->byte[w]);
    for (unsigned w = 0; bytes >= SECTOR_BYTES && w * 64 < line_bytes; w++)
        full |= ((uint32_t)t->byte[w] == UINT32_MAX) << 2 * w | (t->byte[w] >> 32 == UINT32_MAX) << (2 * w + 1);
    r->full = (uint8_t)full;
    r->bytes = (uint16_t)bytes;
    r->sectors = (uint8_t)t->sectors;
}

/* The properties of the lanes' accesses. */
struct layout {
    bool one_line; /* each lane accesses a single line */
    bool words;    /* each lane accesses whole 4-byte words */
};

static inline struct layout layout_of(const uint64_t *addr, lanemask_t lanes, unsigned bytes, uint64_t mask) {
    uint64_t over = 0, low = bytes;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        over |= lanes >> l & 1 ? addr[l] ^ (addr[l] + bytes - 1) : 0;
        low |= lanes >> l & 1 ? addr[l] : 0;
    }
    return (struct layout){!(over & ~mask), !(low & 3)};
}

/* Gathers bits 0, 8, 16, ... of `bits` into a byte. Requires that no other bits are set. */
static inline uint8_t each_eighth(uint64_t bits) { return (uint8_t)(bits * 0x0102040810204080ull >> 56); }

/* Completes a request that touches whole words: bit w of `words` stands for word w. */
static inline void close_words(struct coalesced *r, uint64_t words) {
    uint64_t any = words | words >> 4, all = words & words >> 4;
    any |= any >> 2, all &= all >> 2;
    any |= any >> 1, all &= all >> 1;
    r->full = each_eighth(all & 0x0101010101010101ull);
    r->sectors = each_eighth(any & 0x0101010101010101ull);
    r->bytes = (uint16_t)(4 * __builtin_popcountll(words));
}

/* Coalesces whole words. The result is as for coalesce_lines(), but all lanes are handled at once. Masks are of 32
 * bits, because the host compares 32 lanes at once. */
static int coalesce_words(const struct coalescer *c, const uint64_t *addr, rowmask_t lanes, unsigned bytes,
                          struct coalesced *out) {
    uint64_t mask = c->line_bytes - 1, word[WARP_LANES], some = (1ull << bytes / 4) - 1;
    int n = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        word[l] = lanes >> l & 1 ? some << ((addr[l] & mask) >> 2) : 0;
    for (; lanes; n++) {
        uint64_t line = addr[__builtin_ctz(lanes)] & ~mask, words = 0;
        rowmask_t same = 0;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            words |= (addr[l] & ~mask) == line ? word[l] : 0;
            same |= (rowmask_t)((addr[l] & ~mask) == line) << l;
        }
        same &= lanes;
        lanes &= ~same;
        out[n] = (struct coalesced){.line = line, .lanes = same, .same = 1};
        close_words(&out[n], words);
    }
    return n;
}

/* Coalesces one part of a warp in which each lane accesses a single line. All lanes of a request are added in one
 * step. */
static int coalesce_lines(const struct coalescer *c, const uint64_t *addr, rowmask_t lanes, unsigned bytes,
                          struct coalesced *out) {
    uint64_t mask = c->line_bytes - 1;
    int n = 0;
    for (; lanes; n++) {
        struct touched t = {.sectors = 0};
        uint64_t line = addr[__builtin_ctz(lanes)] & ~mask;
        rowmask_t same = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            same |= (rowmask_t)((addr[l] & ~mask) == line) << l;
        same &= lanes;
        lanes &= ~same;
        out[n] = (struct coalesced){.line = line, .lanes = same, .same = 1};
        for (; same; same &= same - 1)
            touch(&t, (unsigned)(addr[__builtin_ctz(same)] - line), bytes);
        close_request(&out[n], &t, c->line_bytes);
    }
    return n;
}

/* Coalesces one part lane by lane. For each lane, the newest request is searched first, since neighbouring lanes
 * share lines. */
static int coalesce_by_lane(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                            struct coalesced *out) {
    struct touched t[3 * MAX_WARP_LANES]; /* 64 bytes touch at most three lines of 32 bytes */
    uint64_t mask = c->line_bytes - 1;
    int n = 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = lanes_first(lanes);
        uint64_t at = addr[lane], end = at + bytes;
        while (at < end) {
            uint64_t line = at & ~mask, stop = min64(line + c->line_bytes, end);
            int i = n - 1;
            while (i >= 0 && out[i].line != line)
                i--;
            if (i < 0) {
                i = n++;
                out[i] = (struct coalesced){.line = line, .same = 1};
                t[i] = (struct touched){.sectors = 0};
            }
            out[i].lanes |= (lanemask_t)1 << lane;
            touch(&t[i], (unsigned)(at - line), (unsigned)(stop - at));
            at = stop;
        }
    }
    for (int i = 0; i < n; i++)
        close_request(&out[i], &t[i], c->line_bytes);
    return n;
}

enum { FEW_LANES = 8 }; /* up to this number of lanes, a loop over the lanes is used */

static int coalesce_part(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                         struct coalesced *out) {
    if (lanes_count(lanes) <= FEW_LANES)
        return coalesce_by_lane(c, addr, lanes, bytes, out);
    struct layout is = layout_of(addr, lanes, bytes, c->line_bytes - 1);
    if (!is.one_line)
        return coalesce_by_lane(c, addr, lanes, bytes, out);
    return (is.words ? coalesce_words : coalesce_lines)(c, addr, lanes, bytes, out);
}

/* Returns true if each part of a full warp, with adjacent lanes in order from `base`, lies within one line. */
static inline bool parts_in_lines(const struct coalescer *c, uint64_t base, unsigned bytes, unsigned part) {
    return part * bytes <= c->line_bytes && !(base & (part * bytes - 1));
}

/* Returns true if all 32 lanes are active and their accesses are adjacent and in order. */
static bool unit_stride(const uint64_t *addr, unsigned bytes) {
    uint64_t base = addr[0], wrong = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        wrong |= addr[l] ^ (base + l * bytes);
    return wrong == 0;
}

/* Coalesces a full warp with adjacent accesses in order, each part of which lies within one line. */
static int coalesce_unit(const struct coalescer *c, uint64_t base, unsigned bytes, unsigned part,
                         struct coalesced *out) {
    unsigned span = part * bytes, n = 0;
    lanemask_t lanes = part == WARP_LANES ? LANES_ALL : (1u << part) - 1;
    for (unsigned first = 0; first < WARP_LANES; first += part, n++) {
        uint64_t at = base + first * bytes, line = at & ~(uint64_t)(c->line_bytes - 1);
        unsigned s0 = (unsigned)(at - line) / SECTOR_BYTES, s1 = (unsigned)(at - line + span - 1) / SECTOR_BYTES;
        uint8_t sectors =
            /* the sectors that the span touches; it covers them completely, unless it is smaller than a sector */
            (uint8_t)((2u << s1) - (1u << s0));
        out[n] = (struct coalesced){.line = line,
                                    .lanes = lanes << first,
                                    .bytes = (uint16_t)span,
                                    .sectors = sectors,
                                    .full = span < SECTOR_BYTES ? 0 : sectors,
                                    .same = 1};
    }
    return (int)n;
}

/* Coalesces a warp of 64 lanes. */
static __attribute__((noinline)) int coalesce_rows(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes,
                                                   unsigned bytes, struct coalesced *out) {
    const unsigned row = part_lanes(c, bytes), part = row == WARP_LANES ? MAX_WARP_LANES : row;
    const lanemask_t all = ~(lanemask_t)0 >> (MAX_WARP_LANES - part);
    int n = 0;
    for (unsigned first = 0; first < MAX_WARP_LANES; first += part)
        n += coalesce_by_lane(c, addr, lanes & all << first, bytes, out + n);
    return n;
}

int coalesce(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
             struct coalesced out[COALESCE_MAX]) {
    hot_assert(bytes >= 1 && bytes <= 64);
    if (__builtin_expect(lanes >> WARP_LANES != 0, 0))
        return coalesce_rows(c, addr, lanes, bytes, out);
    unsigned part = part_lanes(c, bytes);
    if (lanes == LANES_ALL && !(bytes & (bytes - 1)) && parts_in_lines(c, addr[0], bytes, part) &&
        unit_stride(addr, bytes))
        return coalesce_unit(c, addr[0], bytes, part, out);
    int n = 0;
    lanemask_t all = part == WARP_LANES ? LANES_ALL : (1u << part) - 1;
    for (unsigned first = 0; first < WARP_LANES; first += part)
        if (lanes & all << first)
            n += coalesce_part(c, addr, lanes & all << first, bytes, out + n);
    return n;
}

/* Repeats each of the lowest bits n times; n is a power of two. For example, with n = 2, binary 101 becomes 110011.
 * Requires that the result fits into 64 bits. */
static inline uint64_t each_bit(uint64_t bits, unsigned n) {
    for (; n > 1; n /= 2) {
        bits = (bits | bits << 16) & 0x0000ffff0000ffffull;
        bits = (bits | bits << 8) & 0x00ff00ff00ff00ffull;
        bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0full;
        bits = (bits | bits << 2) & 0x3333333333333333ull;
        bits = (bits | bits << 1) & 0x5555555555555555ull;
        bits |= bits << 1;
    }
    return bits;
}

/* Adds touched bytes: bit i of `bits` stands for byte `from` + i. At least one bit must be set, and the set bits
 * must lie within 32 bytes. */
static inline void touch_bits(struct touched *t, unsigned from, uint64_t bits) {
    unsigned first = from + (unsigned)__builtin_ctzll(bits), last = from + 63 - (unsigned)__builtin_clzll(bits);
    t->sectors |= 1u << first / SECTOR_BYTES | 1u << last / SECTOR_BYTES;
    t->byte[from / 64] |= bits << from % 64;
    if (from % 64 > 32 && bits >> (64 - from % 64))
        t->byte[from / 64 + 1] |= bits >> (64 - from % 64);
}

/* Adds lanes of a half warp, which all access `line`, to the half warp's request for this line, or makes this request.
 * The half warp's requests are out[own] to out[n - 1]. Returns the new n. With `words`, a bit of `bits` stands for a
 * word. */
static inline __attribute__((always_inline)) int add_piece(struct coalesced *out, struct touched *t, int own, int n,
                                                           uint64_t line, lanemask_t lanes, unsigned from,
                                                           uint64_t bits, const bool words) {
    int i = own;
    while (i < n && out[i].line != line)
        i++;
    if (i == n) {
        out[n++] = (struct coalesced){.line = line, .same = 1};
        t[i] = (struct touched){.sectors = 0};
    }
    out[i].lanes |= lanes;
    if (words)
        t[i].byte[0] |= bits << from / 4;
    else
        touch_bits(&t[i], from, bits);
    return n;
}

static inline __attribute__((always_inline)) int coalesce_pieces(const struct coalescer *c, const struct halves *h,
                                                                 lanemask_t lanes, unsigned bytes,
                                                                 struct coalesced *out, const bool words) {
    struct touched t[WARP_LANES];
    const uint64_t mask = c->line_bytes - 1;
    const unsigned part = part_lanes(c, bytes), piece = part < HALF_LANES ? part : HALF_LANES;
    const unsigned each = words ? bytes / 4 : bytes, shift = (unsigned)__builtin_ctz(bytes);
    int n = 0, own = 0;
    for (unsigned first = 0; first < WARP_LANES; first += piece) {
        lanemask_t left = lanes >> first & ((1u << piece) - 1);
        uint64_t at = halves_lane(h, first, bytes);
        own = first % part ? own : n;
        for (unsigned lane = first; left; at = (at | mask) + 1) {
            uint64_t room = ((at | mask) + 1 - at) >> shift; /* lanes */
            lanemask_t here = h->shape == SHAPE_UNIFORM || room >= piece ? left : left & ((1u << room) - 1);
            uint64_t bits = each_bit(h->shape == SHAPE_UNIFORM ? 1 : here, each);
            if (here)
                n = add_piece(out, t, own, n, at & ~mask, here << lane, (unsigned)(at & mask), bits, words);
            left ^= here;
            left >>= room < piece ? room : 0;
            lane += (unsigned)room;
        }
    }
    for (int i = 0; i < n; i++)
        if (words)
            close_words(&out[i], t[i].byte[0]);
        else
            close_request(&out[i], &t[i], c->line_bytes);
    return n;
}

/* coalesce_pieces_of_words() and coalesce_pieces_of_bytes() are two copies of coalesce_pieces(), so that each has its
 * own stack frame. */
static __attribute__((noinline)) int coalesce_pieces_of_words(const struct coalescer *c, const struct halves *h,
                                                              lanemask_t lanes, unsigned bytes, struct coalesced *out) {
    return coalesce_pieces(c, h, lanes, bytes, out, true);
}
static __attribute__((noinline)) int coalesce_pieces_of_bytes(const struct coalescer *c, const struct halves *h,
                                                              lanemask_t lanes, unsigned bytes, struct coalesced *out) {
    return coalesce_pieces(c, h, lanes, bytes, out, false);
}

int coalesce_halves(const struct coalescer *c, const struct halves *h, lanemask_t lanes, unsigned bytes,
                    struct coalesced out[COALESCE_MAX]) {
    hot_assert(h->shape != SHAPE_ANY && bytes <= c->line_bytes && !(bytes & (bytes - 1)));
    unsigned part = part_lanes(c, bytes);
    if (lanes == LANES_ALL && h->shape == SHAPE_UNIT && h->first[1] == h->first[0] + HALF_LANES * bytes &&
        parts_in_lines(c, h->first[0], bytes, part))
        return coalesce_unit(c, h->first[0], bytes, part, out);
    return (bytes >= 4 ? coalesce_pieces_of_words : coalesce_pieces_of_bytes)(c, h, lanes, bytes, out);
}

/* Returns the size of the largest group of `lanes` with one address. */
static unsigned most_same(const uint64_t *addr, lanemask_t lanes) {
    unsigned most = 0;
    while (lanes) {
        uint64_t at = addr[lanes_first(lanes)];
        lanemask_t equal = 0;
        for (unsigned first = 0; first < MAX_WARP_LANES && lanes >> first; first += WARP_LANES) {
            rowmask_t row = 0;
            for (unsigned l = 0; l < WARP_LANES; l++)
                row |= (rowmask_t)(addr[first + l] == at) << l;
            equal |= (lanemask_t)row << first;
        }
        equal &= lanes;
        unsigned n = lanes_count(equal);
        most = n > most ? n : most;
        lanes &= ~equal;
    }
    return most;
}

int coalesce_atomic(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                    struct coalesced out[COALESCE_MAX]) {
    int n = coalesce(c, addr, lanes, bytes, out);
    for (int i = 0; i < n; i++)
        out[i].same = (uint8_t)most_same(addr, out[i].lanes);
    return n;
}

int coalesce_atomic_lanes(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                          struct coalesced out[COALESCE_MAX]) {
    struct touched t[MAX_WARP_LANES];
    int n = 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = lanes_first(lanes);
        uint64_t line = addr[lane] & ~(uint64_t)(c->line_bytes - 1);
        struct touched mine = {.sectors = 0};
        int i = 0;
        touch(&mine, (unsigned)(addr[lane] - line), bytes);
        while (i < n && (out[i].line != line || t[i].byte[0] & mine.byte[0]))
            i++;
        if (i == n) {
            t[n] = (struct touched){.sectors = 0};
            out[n++] = (struct coalesced){.line = line, .same = 1};
        }
        t[i].byte[0] |= mine.byte[0];
        t[i].sectors |= mine.sectors;
        out[i].lanes |= (lanemask_t)1 << lane;
    }
    for (int i = 0; i < n; i++)
        close_request(&out[i], &t[i], c->line_bytes);
    return n;
}

void coalesce_widen(struct coalesced *r) {
    unsigned all = 0;
    for (unsigned half = 0; half < LINE_BYTES_MAX / SECTOR_BYTES; half += 4) {
        unsigned s = r->sectors >> half & 0xf;
        all |= (s & 3 && s & 12 ? 0xf : s) << half;
    }
    r->sectors = (uint8_t)all;
    r->bytes = (uint16_t)(SECTOR_BYTES * (unsigned)__builtin_popcount(all));
}

int coalesce_local(const struct coalescer *c, uint64_t local_base, uint64_t stride, const uint64_t *offset,
                   lanemask_t lanes, unsigned bytes, struct coalesced out[COALESCE_MAX]) {
    uint64_t addr[MAX_WARP_LANES];
    struct coalescer whole = {.line_bytes = c->line_bytes};
    int n = 0;
    for (unsigned done = 0; done < bytes;) {
        unsigned first = lanes_first(lanes | (lanemask_t)1 << (MAX_WARP_LANES - 1));
        unsigned room = 4 - (unsigned)((offset[first] + done) & 3), take = bytes - done < room ? bytes - done : room;
        for (unsigned l = 0; l < WARP_LANES; l++)
            addr[l] = local_base + ((offset[l] + done) >> 2) * stride + l * 4 + ((offset[l] + done) & 3);
        for (unsigned l = WARP_LANES; lanes >> WARP_LANES && l < MAX_WARP_LANES; l++)
            addr[l] = local_base + ((offset[l] + done) >> 2) * stride + l * 4 + ((offset[l] + done) & 3);
        n += coalesce(&whole, addr, lanes, take, out + n);
        done += take;
    }
    return n;
}
