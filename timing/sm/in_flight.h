#ifndef TIMING_SM_IN_FLIGHT_H
#define TIMING_SM_IN_FLIGHT_H
/* Instructions between issue and write-back: a table with a list of free entries. */
#include "isa/hot_assert.h"
#include "isa/program.h"
#include "timing/config/table_size.h"

struct sm_form;

/* MAX_INFLIGHT must fit into the 16-bit counters of struct sm_warp */
enum { NO_INFLIGHT = 0xffffffffu, MAX_INFLIGHT = TABLE_SIZE(2048, 8) };

struct inflight {
    uint64_t issued; /* cycle */
    uint32_t pc;
    uint32_t next; /* next entry of the free list, or of sm_warp.loads */
    lanemask_t lanes;
    uint16_t warp;
    uint8_t board;
    uint8_t part : 4; /* number of the SM's part, if the SM is divided */
    bool missed : 1, used : 1;
    bool known : 1; /* for models that split paths: true if the tags of all lines of this waiting load have been read */
    bool formed : 1; /* the instruction has a form: in_flight_form() */
};
_Static_assert(sizeof(struct inflight) == 32, "half a cache line of the host");

/* Owns the table. */
struct sm_in_flight {
    struct inflight *entry; /* MAX_INFLIGHT */
    /* by entry with `formed`: the variant (form) of a memory instruction */
    const struct sm_form **form;
    uint32_t free; /* first free entry; NO_INFLIGHT if the table is full */
    /* Entries from this one on have never been used. They are not initialised, except that the list of free entries
     * ends with entry `fresh`, whose `next` names the one after it. */
    uint32_t fresh;
    bool pairs; /* an instruction may need two entries: one of the modern core, and one of a tensor unit */
    /* Until this cycle, the schedulers issue in rotation, because this table or the table of memory instructions was
     * full. */
    uint64_t scarce_until;
};

enum { SCARCE_CYCLES = 1024 };
/* Records that the last free entry of a table was allocated in cycle `now`. */
static inline void in_flight_scarce(struct sm_in_flight *t, uint64_t now) { t->scarce_until = now + SCARCE_CYCLES; }
static inline bool in_flight_has_room(const struct sm_in_flight *t) {
    return t->free != NO_INFLIGHT && (__builtin_expect(!t->pairs, 1) || t->entry[t->free].next != NO_INFLIGHT);
}

/* Sets the link of entry `fresh`. */
static inline void in_flight_link_fresh(struct sm_in_flight *t) {
    if (t->fresh < MAX_INFLIGHT)
        t->entry[t->fresh].next = t->fresh + 1 < MAX_INFLIGHT ? t->fresh + 1 : NO_INFLIGHT;
}

/* Allocates an entry for an instruction of warp slot `w`, issued in cycle `now`, and returns its index. The caller must
 * increment sm_warp.inflight. Requires in_flight_has_room(). */
static inline uint32_t in_flight_new(struct sm_in_flight *t, uint32_t w, uint32_t part, uint32_t pc, lanemask_t lanes,
                                     uint8_t board, uint64_t now) {
    uint32_t i = t->free;
    hot_assert(i != NO_INFLIGHT);
    struct inflight *f = &t->entry[i];
    t->free = f->next;
    if (__builtin_expect(i == t->fresh, 0)) {
        t->fresh++;
        in_flight_link_fresh(t);
    }
    f->pc = pc;
    f->lanes = lanes;
    f->warp = (uint16_t)w;
    f->board = board;
    f->part = part & 15;
    f->missed = false;
    f->known = false;
    f->formed = false;
    f->used = true;
    f->issued = now;
    if (__builtin_expect(t->free == NO_INFLIGHT, 0))
        in_flight_scarce(t, now);
    return i;
}

/* Sets the form (variant) of an instruction that has none yet. If `form` is NULL, the instruction stays without a
 * form. */
static inline void in_flight_set_form(struct sm_in_flight *t, uint32_t i, const struct sm_form *form) {
    if (__builtin_expect(form != NULL, 0)) {
        t->entry[i].formed = true;
        t->form[i] = form;
    }
}
static inline const struct sm_form *in_flight_form(const struct sm_in_flight *t, uint32_t i) {
    return __builtin_expect(t->entry[i].formed, 0) ? t->form[i] : NULL;
}

static inline void in_flight_end(struct sm_in_flight *t, uint32_t i) {
    t->entry[i].used = false;
    t->entry[i].next = t->free;
    t->free = i;
}

bool in_flight_init(struct sm_in_flight *t);
void in_flight_free(struct sm_in_flight *t);
#endif
