#ifndef TIMING_SCOREBOARD_H
#define TIMING_SCOREBOARD_H
/* The pending registers of a warp. One `struct scoreboard_ops` a kind of scoreboard; the SM keeps one
 * state of size() bytes for each warp and knows nothing else about it. Register numbers are those of program->regs:
 * predicates have numbers too.
 *
 * `board` is path.board: the side (0 left, 1 right) for DPE's two boards, 0 for a warp with one. `lanes` are the path's
 * active lanes, for scoreboards that track lanes. Both travel with the instruction and come back at its write-back.
 * Ready paths are re-asked after every write-back of their warp, and after shadow() or when their PC changes; a verdict
 * must depend on nothing else. */
#include "isa/arith.h"
#include "isa/paths/reconv.h"

enum sb_verdict { SB_READY, SB_WAIT_ARITH, SB_WAIT_LOAD };

struct sb_regs {
    const uint16_t *read, *write; /* register numbers */
    uint8_t n_read, n_write;
    uint8_t counter;    /* of a load, for counted scoreboards; NO_COUNTER: none */
    uint64_t low, wlow; /* a bit for each register below 64: read or written; written */
};
enum { N_COUNTERS = 6, COUNTER_BITS = 6, NO_COUNTER = 255 };

/* The registers of an instruction; the caller keeps the lists. */
struct sb_regs sb_regs_of(const uint16_t *read, uint8_t n_read, const uint16_t *write, uint8_t n_write,
                          uint8_t counter);

struct scoreboard_ops {
    const char *name;
    /* Bytes of one warp's state, a multiple of 8. */
    size_t (*size)(uint32_t n_regs);
    /* A new warp: nothing is pending. */
    void (*start)(void *state, uint32_t n_regs);
    /* May an instruction of the path with these registers issue (RAW and WAW), and if not, what does it wait for? A
     * wait for both a load and an arithmetic result is a wait for the load. */
    enum sb_verdict (*check)(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r);
    /* The registers written become pending; `load`: by a memory access. Requires that check() said SB_READY. */
    void (*issue)(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r, bool load);
    void (*writeback)(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r);
    /* RECONV_SHADOW_ bits of a model's call. NULL: boards without shadow bits. */
    void (*shadow)(void *state, unsigned boards);
    /* The first register the instruction waits for, for reports; -1 when none. */
    int (*waits_for)(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r);
    /* Bits that hardware would keep for one warp. */
    uint32_t (*bits)(uint32_t n_regs);
};

/* One set of pending bits for the whole warp: what SPE needs. */
extern const struct scoreboard_ops scoreboard_warp;
/* Its state for programs of at most SB_WORD registers, and its calls inline, for callers that know the state. */
enum { SB_WORD = 64 };
struct sb_word {
    uint64_t words;         /* 1 */
    uint64_t pending, load; /* load: the pending registers that wait for memory */
};
/* Returns one of the three arguments, by the verdict. The verdict is unpredictable, so there are no branches. */
static inline uint32_t sb_word_choose(const void *state, const struct sb_regs *r, uint32_t ready, uint32_t arith,
                                      uint32_t load) {
    const struct sb_word *b = state;
    uint32_t waits = choose32(b->load & r->low, load, arith);
    return choose32(b->pending & r->low, waits, ready);
}
static inline enum sb_verdict sb_word_check(const void *state, const struct sb_regs *r) {
    return (enum sb_verdict)sb_word_choose(state, r, SB_READY, SB_WAIT_ARITH, SB_WAIT_LOAD);
}
static inline void sb_word_issue(void *state, const struct sb_regs *r, bool load) {
    struct sb_word *b = state;
    b->pending |= r->wlow;
    b->load |= load ? r->wlow : 0;
}
static inline void sb_word_writeback(void *state, const struct sb_regs *r) {
    struct sb_word *b = state;
    b->pending &= ~r->wlow;
    b->load &= ~r->wlow;
}

/* Left and right boards with shadow bits: DPE's. */
extern const struct scoreboard_ops scoreboard_shadow;
/* Lane by lane, no false dependence: DPE's optimistic one, DWS and minpc; its and si if asked to. */
extern const struct scoreboard_ops scoreboard_exact;
/* Six counters for loads, one set a warp (its), or one for each lane (si). */
extern const struct scoreboard_ops scoreboard_counted, scoreboard_counted_lanes;
#endif
