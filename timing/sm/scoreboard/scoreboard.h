#ifndef TIMING_SCOREBOARD_H
#define TIMING_SCOREBOARD_H
/* The pending registers of a warp. Each kind of scoreboard has a `struct scoreboard_ops`; the SM keeps one opaque state
 * of size() bytes for each warp. Register numbers are the values in program->regs, in which predicates have numbers,
 * too.
 *
 * `board` is path.board: the left (0) or the right (1) of two scoreboards, and 0 for a warp with one scoreboard.
 * `lanes` are the path's active lanes, for scoreboards that track lanes. The SM stores both with the instruction and
 * passes them again at its write-back. Ready paths are checked again after every write-back of their warp, after
 * shadow(), and when their PC changes. So the result of check() must not change at other times. */
#include "isa/arith.h"
#include "isa/paths/reconv.h"

enum sb_verdict { SB_READY, SB_WAIT_ARITH, SB_WAIT_LOAD };

struct sb_regs {
    const uint16_t *read, *write; /* register numbers */
    uint8_t n_read, n_write;
    uint8_t counter;    /* counter of a load, for counted scoreboards; NO_COUNTER if it has none */
    uint64_t low, wlow; /* bit masks of registers below 64: registers read or written; registers written */
};
enum { N_COUNTERS = 6, COUNTER_BITS = 6, NO_COUNTER = 255 };

/* Makes the register lists of an instruction; the caller keeps the arrays. */
struct sb_regs sb_regs_of(const uint16_t *read, uint8_t n_read, const uint16_t *write, uint8_t n_write,
                          uint8_t counter);

struct scoreboard_ops {
    const char *name;
    /* Returns the size of one warp's state in bytes, a multiple of 8. */
    size_t (*size)(uint32_t n_regs);
    /* Clears the state for a new warp. */
    void (*start)(void *state, uint32_t n_regs);
    /* Checks for RAW and WAW hazards. Returns whether an instruction with these registers may issue, and if not,
     * what it waits for. If it waits for a load and for an arithmetic result, the load is returned. */
    enum sb_verdict (*check)(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r);
    /* Makes the written registers pending. `load`: a memory access writes them. Requires SB_READY from check(). */
    void (*issue)(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r, bool load);
    void (*writeback)(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r);
    /* Handles RECONV_SHADOW_ bits that a call of the model returned. NULL: the scoreboard has no shadow bits. */
    void (*shadow)(void *state, unsigned boards);
    /* Returns the first register for which the instruction waits, or -1 if it waits for none. Used in reports. */
    int (*waits_for)(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r);
    /* Returns the number of bits that hardware would need for one warp of `lanes` lanes. */
    uint32_t (*bits)(uint32_t n_regs, uint32_t lanes);
};

/* One set of pending bits for the whole warp (RECONV_BOARD_WARP), for SPE and other models. */
extern const struct scoreboard_ops scoreboard_warp;
/* The state of scoreboard_warp for programs of at most SB_WORD registers. The functions sb_word_*() are inline for
 * callers that know that a warp has this state, and sb_warp_*() for callers that know the kind of the scoreboard. */
enum { SB_WORD = 64 };
struct sb_word {
    uint64_t words;         /* 1 */
    uint64_t pending, load; /* load: the pending registers that wait for memory */
};
/* Checks the scoreboard, and returns the argument for the result: `ready`, `arith` or `load`. This result is
 * unpredictable for the host, so the code has no branches. */
static inline uint32_t sb_word_choose(const void *state, const struct sb_regs *r, uint32_t ready, uint32_t arith,
                                      uint32_t load) {
    const struct sb_word *b = state;
    uint32_t waits = choose32(b->load & r->low, load, arith);
    return choose32(b->pending & r->low, waits, ready);
}
/* The same for programs of more than SB_WORD registers. */
uint32_t sb_words_choose(const void *state, const struct sb_regs *r, uint32_t ready, uint32_t arith, uint32_t load);
void sb_words_issue(void *state, const struct sb_regs *r, bool load);
void sb_words_writeback(void *state, const struct sb_regs *r);

static inline bool sb_is_word(const void *state) {
    const struct sb_word *b = state;
    return __builtin_expect(b->words == 1, 1);
}
/* The same for programs of any size. */
static inline uint32_t sb_warp_choose(const void *state, const struct sb_regs *r, uint32_t ready, uint32_t arith,
                                      uint32_t load) {
    return sb_is_word(state) ? sb_word_choose(state, r, ready, arith, load)
                             : sb_words_choose(state, r, ready, arith, load);
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
static inline void sb_warp_issue(void *state, const struct sb_regs *r, bool load) {
    if (sb_is_word(state))
        sb_word_issue(state, r, load);
    else
        sb_words_issue(state, r, load);
}
static inline void sb_warp_writeback(void *state, const struct sb_regs *r) {
    if (sb_is_word(state))
        sb_word_writeback(state, r);
    else
        sb_words_writeback(state, r);
}

/* Left and right scoreboards with shadow bits (RECONV_BOARD_SIDES). */
extern const struct scoreboard_ops scoreboard_shadow;
/* Pending bits lane by lane, without false dependences (RECONV_BOARD_LANES). */
extern const struct scoreboard_ops scoreboard_exact;
/* Six counters for loads: one set per warp, or one set per lane. */
extern const struct scoreboard_ops scoreboard_counted, scoreboard_counted_lanes;
#endif
