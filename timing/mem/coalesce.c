#include "coalesce.h"
#include "isa/hot_assert.h"
#include <string.h>

/* Lanes of one part of the warp for an access of `bytes` a lane. */
static unsigned part_lanes(const struct coalescer *c, unsigned bytes) {
    if (!c->split_wide || bytes <= 4)
        return WARP_LANES;
    return bytes <= 8 ? 16 : bytes <= 16 ? 8 : 4;
}

/* A request under construction: which bytes of the line are touched. */
struct touched {
    uint64_t byte[LINE_BYTES_MAX / 64];
};

static inline void touch(struct touched *t, unsigned from, unsigned n) {
    if ((from & 63) + n < 64) { /* mostly */
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

static void close_request(struct coalesced *r, const struct touched *t, unsigned line_bytes) {
    unsigned bytes = 0, sectors = 0, full = 0;
    for (unsigned w = 0; w * 64 < line_bytes; w++) {
        bytes += (unsigned)__builtin_popcountll(t->byte[w]);
        sectors |= ((uint32_t)t->byte[w] != 0) << 2 * w | (t->byte[w] >> 32 != 0) << (2 * w + 1);
        full |= ((uint32_t)t->byte[w] == UINT32_MAX) << 2 * w | (t->byte[w] >> 32 == UINT32_MAX) << (2 * w + 1);
    }
    r->full = (uint8_t)full;
    r->bytes = (uint16_t)bytes;
    r->sectors = (uint8_t)sectors;
}

/* How the accesses of the lanes lie. */
struct layout {
    bool one_line; /* each in one line */
    bool words;    /* of whole words */
};

static inline struct layout layout_of(const uint64_t *addr, lanemask_t lanes, unsigned bytes, uint64_t mask) {
    uint64_t over = 0, low = bytes;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        over |= lanes >> l & 1 ? addr[l] ^ (addr[l] + bytes - 1) : 0;
        low |= lanes >> l & 1 ? addr[l] : 0;
    }
    return (struct layout){!(over & ~mask), !(low & 3)};
}

/* Bit s: bit 8 * s of `bits`, of which no others are set. */
static inline uint8_t each_eighth(uint64_t bits) { return (uint8_t)(bits * 0x0102040810204080ull >> 56); }

/* close_request() where whole words are touched: bit w of `words` is word w. */
static inline void close_words(struct coalesced *r, uint64_t words) {
    uint64_t any = words | words >> 4, all = words & words >> 4;
    any |= any >> 2, all &= all >> 2;
    any |= any >> 1, all &= all >> 1;
    r->full = each_eighth(all & 0x0101010101010101ull);
    r->sectors = each_eighth(any & 0x0101010101010101ull);
    r->bytes = (uint16_t)(4 * __builtin_popcountll(words));
}

/* coalesce_lines() where whole words are touched: all lanes at a time, without a look at each. */
static int coalesce_words(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                          struct coalesced *out) {
    uint64_t mask = c->line_bytes - 1, word[WARP_LANES], some = (1ull << bytes / 4) - 1;
    int n = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        word[l] = lanes >> l & 1 ? some << ((addr[l] & mask) >> 2) : 0;
    for (; lanes; n++) {
        uint64_t line = addr[__builtin_ctz(lanes)] & ~mask, words = 0;
        lanemask_t same = 0;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            words |= (addr[l] & ~mask) == line ? word[l] : 0;
            same |= (lanemask_t)((addr[l] & ~mask) == line) << l;
        }
        same &= lanes;
        lanes &= ~same;
        out[n] = (struct coalesced){.line = line, .lanes = same, .same = 1};
        close_words(&out[n], words);
    }
    return n;
}

/* The lines of one part where no lane wants two: each with all of its lanes at once. */
static int coalesce_lines(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                          struct coalesced *out) {
    uint64_t mask = c->line_bytes - 1;
    int n = 0;
    for (; lanes; n++) {
        struct touched t = {{0}};
        uint64_t line = addr[__builtin_ctz(lanes)] & ~mask;
        lanemask_t same = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            same |= (lanemask_t)((addr[l] & ~mask) == line) << l;
        same &= lanes;
        lanes &= ~same;
        out[n] = (struct coalesced){.line = line, .lanes = same, .same = 1};
        for (; same; same &= same - 1)
            touch(&t, (unsigned)(addr[__builtin_ctz(same)] - line), bytes);
        close_request(&out[n], &t, c->line_bytes);
    }
    return n;
}

/* The lines of one part, lane by lane; each lane looks at the newest request first, since neighbours share lines. */
static int coalesce_part(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
                         struct coalesced *out) {
    struct touched t[3 * WARP_LANES]; /* 64 bytes touch at most three lines of 32 */
    uint64_t mask = c->line_bytes - 1;
    int n = 0;
    struct layout is = layout_of(addr, lanes, bytes, mask);
    if (is.one_line)
        return (is.words ? coalesce_words : coalesce_lines)(c, addr, lanes, bytes, out);
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        uint64_t at = addr[lane], end = at + bytes;
        while (at < end) {
            uint64_t line = at & ~mask, stop = line + c->line_bytes < end ? line + c->line_bytes : end;
            int i = n - 1;
            while (i >= 0 && out[i].line != line)
                i--;
            if (i < 0) {
                i = n++;
                out[i] = (struct coalesced){.line = line, .same = 1};
                memset(&t[i], 0, sizeof t[i]);
            }
            out[i].lanes |= 1u << lane;
            touch(&t[i], (unsigned)(at - line), (unsigned)(stop - at));
            at = stop;
        }
    }
    for (int i = 0; i < n; i++)
        close_request(&out[i], &t[i], c->line_bytes);
    return n;
}

/* True when all 32 lanes are adjacent and in order, the first on a multiple of what a part of the warp covers. */
static bool unit_stride(const uint64_t *addr, unsigned bytes) {
    uint64_t base = addr[0], wrong = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        wrong |= addr[l] ^ (base + l * bytes);
    return wrong == 0;
}

/* The same, when each part is adjacent and within one line. */
static int coalesce_unit(const struct coalescer *c, uint64_t base, unsigned bytes, unsigned part,
                         struct coalesced *out) {
    unsigned span = part * bytes, n = 0;
    lanemask_t lanes = part == WARP_LANES ? LANES_ALL : (1u << part) - 1;
    for (unsigned first = 0; first < WARP_LANES; first += part, n++) {
        uint64_t at = base + first * bytes, line = at & ~(uint64_t)(c->line_bytes - 1);
        unsigned s0 = (unsigned)(at - line) / SECTOR_BYTES, s1 = (unsigned)(at - line + span - 1) / SECTOR_BYTES;
        uint8_t sectors = (uint8_t)((2u << s1) - (1u << s0)); /* whole ones, unless the span is less than one */
        out[n] = (struct coalesced){.line = line,
                                    .lanes = lanes << first,
                                    .bytes = (uint16_t)span,
                                    .sectors = sectors,
                                    .full = span < SECTOR_BYTES ? 0 : sectors,
                                    .same = 1};
    }
    return (int)n;
}

int coalesce(const struct coalescer *c, const uint64_t *addr, lanemask_t lanes, unsigned bytes,
             struct coalesced out[COALESCE_MAX]) {
    hot_assert(bytes >= 1 && bytes <= 64);
    unsigned part = part_lanes(c, bytes);
    if (lanes == LANES_ALL && part * bytes <= c->line_bytes && (addr[0] & (part * bytes - 1)) == 0 &&
        (bytes & (bytes - 1)) == 0 && unit_stride(addr, bytes))
        return coalesce_unit(c, addr[0], bytes, part, out);
    int n = 0;
    lanemask_t all = part == WARP_LANES ? LANES_ALL : (1u << part) - 1;
    for (unsigned first = 0; first < WARP_LANES; first += part)
        if (lanes & all << first)
            n += coalesce_part(c, addr, lanes & all << first, bytes, out + n);
    return n;
}

/* How many of `lanes` name the address that most of them name. */
static unsigned most_same(const uint64_t *addr, lanemask_t lanes) {
    unsigned most = 0;
    while (lanes) {
        uint64_t at = addr[__builtin_ctz(lanes)];
        lanemask_t equal = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            equal |= (lanemask_t)(addr[l] == at) << l;
        equal &= lanes;
        unsigned n = (unsigned)__builtin_popcount(equal);
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
    struct touched t[WARP_LANES];
    int n = 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        uint64_t line = addr[lane] & ~(uint64_t)(c->line_bytes - 1);
        struct touched mine = {{0}};
        int i = 0;
        touch(&mine, (unsigned)(addr[lane] - line), bytes);
        while (i < n && (out[i].line != line || t[i].byte[0] & mine.byte[0]))
            i++;
        if (i == n) {
            t[n] = (struct touched){{0}};
            out[n++] = (struct coalesced){.line = line, .same = 1};
        }
        t[i].byte[0] |= mine.byte[0];
        out[i].lanes |= 1u << lane;
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
    uint64_t addr[WARP_LANES];
    struct coalescer whole = {.line_bytes = c->line_bytes};
    int n = 0;
    for (unsigned done = 0; done < bytes;) {
        unsigned first = (unsigned)__builtin_ctz(lanes | 1u << 31);
        unsigned room = 4 - (unsigned)((offset[first] + done) & 3), take = bytes - done < room ? bytes - done : room;
        for (unsigned l = 0; l < WARP_LANES; l++)
            addr[l] = local_base + ((offset[l] + done) >> 2) * stride + l * 4 + ((offset[l] + done) & 3);
        n += coalesce(&whole, addr, lanes, take, out + n);
        done += take;
    }
    return n;
}
