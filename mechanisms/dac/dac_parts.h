#ifndef MECHANISMS_DAC_PARTS_H
#define MECHANISMS_DAC_PARTS_H
/* Internal to the unit: dac.c (affine warp, batches), expand.c (affine tuple queue: ATQ, expansion units, the warps'
 * queues), lines.c (requests and locks), account.c (counts of queues), dac_report.c (statistics, deadlock reports). */
#include "isa/affine/supply.h"
#include "timing/sm/sm.h"
#include "timing/sm/unit_access.h"

extern const struct sm_unit_ops unit_dac;

enum { CURVE_ATQ, CURVE_ADDRESSES, CURVE_PREDICATES, CURVE_LOCKED, N_CURVES };
enum { EXPANDERS = N_QUEUES, NO_TIME = 0, RETRY_CYCLES = 32, PATIENCE = 10000, NO_LINE = UINT32_MAX };

/* The state of a line that an entry needs. */
enum line_state {
    LINE_WANTED,  /* the line waits for its request */
    LINE_ASKED,   /* the request is in the L1's queue */
    LINE_COMING,  /* the line is locked, and its fill is outstanding */
    LINE_LOCKED,  /* the line is locked, and its data are present */
    LINE_WITHOUT, /* the line is not locked; the access will read it on demand */
};
struct dac_line {
    uint64_t address, serial; /* serial: number of the line's record in the warp's queue */
    uint64_t order;           /* sequence number: lines that were wanted earlier have smaller numbers */
    uint64_t again;           /* cycle before which the line must not be requested */
    uint64_t since;           /* cycle of the first refused lock; NO_TIME if there is none */
    /* cycle of the first refusal in the current series of refusals; NO_TIME if there is none */
    uint64_t refused;
    uint32_t next;          /* index of the next line in the list of its record, or in the free list */
    uint32_t next_wanted;   /* index of the next line that waits for its request */
    uint32_t warp;          /* warp slot */
    uint8_t sectors, state; /* mask of its needed sectors; enum line_state */
    bool orphan;            /* its record was removed; the line is unlocked when the reply arrives */
};

/* Further data of an entry in a warp's address queue. */
struct dac_record {
    uint32_t lines;   /* number of queue places that the entry occupies, at least 1 */
    uint32_t line;    /* index of the first requested line, which begins a list; NO_LINE if the list is empty */
    uint32_t waiting; /* number of lines in the list that have not arrived */
    rowmask_t lanes;  /* lanes of the entry when it was queued */
    bool locked;      /* all of its lines are locked */
    bool late;        /* true if a path has waited for its lines */
};

/* The two queues of a warp. */
struct dac_queue {
    struct dac_record *record; /* ring, parallel to the address queue of `supply` */
    uint32_t first, n, cap;    /* first record, number of records, and size of the ring (0 or a power of two) */
    uint64_t serial;           /* number of the first record */
    /* number of requested lines whose tags have not been read yet; all of them belong to record `asked` */
    uint32_t asking;
    uint64_t asked;          /* number of the record that these lines belong to */
    uint32_t used[N_QUEUES]; /* number of places in use */
    /* true if a path did not find entries for all its lanes, and no entry has arrived since then */
    bool starved[N_QUEUES];
};

/* The entries that one enqueue instruction (enq) has sent. */
struct atq_entry {
    uint64_t number; /* for a predicate: number of its enqueue operation among those of its affine warp in the launch */
    uint32_t site;
    uint8_t queue;  /* enum supply_queue */
    uint8_t stream; /* index of the affine warp that has sent the entries */
    uint32_t n_ctas;
    uint32_t left;                /* bit i is set while CTA i of the batch must still be expanded */
    uint8_t cta[AFFINE_CTAS];     /* CTA slots */
    struct affine_entry *entries; /* indexed by CTA and warp */
};

/* An expansion unit and its current work. */
struct expander {
    uint64_t done_at; /* cycle in which the unit finishes; NO_TIME if it is idle */
    uint64_t seq;     /* number of the ATQ entry that the unit expands */
    uint32_t cta;     /* CTA slot */
    uint32_t warp;    /* the unit now serves n_warps warps of the CTA, beginning with this one */
    uint32_t n_warps;
    bool spills;
    uint32_t turn; /* CTA slot that was served last */
    /* for an idle unit: next cycle in which the waiting time of a CTA may reach the limit; UINT64_MAX if no CTA
     * waits */
    uint64_t retry_at;
    bool full; /* the unit is idle because the next warp of every CTA with an ATQ entry has no room in its queue */
};

/* The lines of one warp's entry. An access of a lane touches at most two lines. In local memory, it touches one line
 * for each of its words. */
enum { DAC_LINES = 4 * WARP_LANES };
struct dac_plan {
    uint64_t line[DAC_LINES];
    uint8_t sectors[DAC_LINES];
    uint64_t low, high; /* lowest and highest element of `line` */
    uint32_t n_lines, records, cycles;
    bool early; /* true if the lines are requested at the expansion */
    bool wide;  /* the entry has more lines than the queue has places, so one record with the tuple is queued */
};

/* Progress of a CTA in the stream of entries. The struct models an accumulator of the expansion units. */
struct dac_cta {
    uint32_t index;              /* index in its batch */
    uint32_t passed;             /* number of barriers that the CTA has passed */
    uint64_t seq[EXPANDERS];     /* number of the next ATQ entry */
    uint32_t warp[EXPANDERS];    /* next warp of that entry */
    bool begun[EXPANDERS];       /* true if the entry's start address and adjustment for the CTA have been computed */
    uint64_t blocked[EXPANDERS]; /* cycle since which the queue of `warp` has had no room; NO_TIME if it has room */
    /* if the queue of `warp` has no room: slot of this warp, and number of places that the warp needs */
    uint32_t full_slot[EXPANDERS], full_records[EXPANDERS];
    bool full[EXPANDERS];
    bool planned; /* true if `plan` is valid; it describes the next warp */
    uint32_t n_warps;
    uint16_t slot[MAX_CTA_WARPS];
    struct dac_plan plan;
};

/* An affine warp, in a context of its own. It has its own tuple registers and its own batch of CTAs. */
struct dac_stream {
    struct affine_engine *engine;         /* allocated for the first batch of a launch; NULL before */
    uint32_t batch[AFFINE_CTAS], n_batch; /* CTA slots of its batch */
    uint32_t context;                     /* warp slot in which it runs; NO_CONTEXT if it is idle */
    uint32_t repeat;                      /* number of issue slots that its instruction still needs */
    /* for one issue slot: number of lanes that compute; number of words accessed of each operand */
    uint32_t lanes, words;
    /* number of the predicate whose expansion the affine warp must wait for; 0 if there is none */
    uint64_t waits;
    uint64_t numbers; /* number of predicates that earlier batches have sent */
    uint32_t sent;    /* number of predicates that this batch has sent */
    bool sends;       /* the affine warp's next instruction is an enq */
    /* enq_since: cycle since which the next enq waits for a full predicate queue (NO_TIME: it does not wait);
     * enq_again: cycle in which the queues must be read again even if no event has changed them */
    uint64_t enq_since, enq_again;
};

struct dac_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "dac.def"
};

struct dac {
    const struct config *cfg;
    struct sm *sm; /* the SM of this launch */
    const struct prefetch_place *l1;
    bool active; /* the kernel has an affine stream */
    uint32_t most_ctas;
    uint32_t size[N_QUEUES];                /* number of places in each warp's queue */
    uint32_t most_held;                     /* most CTAs that the SM has held in this launch */
    struct dac_stream stream[MAX_CONTEXTS]; /* the first cfg->dac.contexts elements are used */
    uint32_t n_idle;                        /* number of affine warps without a batch */
    /* `supply`, `queue` and the engine of the first affine warp are allocated when the SM gets its first CTA of the
     * launch. Before, `shape` is NULL. */
    const struct affine_shape *shape;
    struct supply supply; /* by warp slot */
    struct dac_queue *queue;
    uint64_t filled[N_QUEUES]; /* number of places in use, summed over the warps' queues */
    struct dac_cta cta[SM_CTA_SLOTS];
    uint64_t pending, serving; /* bit masks of CTA slots: slots without a stream; slots in a started batch */
    /* bit masks of the slots of `serving` whose entries for this unit may still be in the ATQ */
    uint64_t sent_to[EXPANDERS];
    uint64_t came_at; /* cycle in which the last CTA arrived */

    struct atq_entry *atq; /* ring of at least cfg->dac.atq entries; the low bits of an entry's number are its index */
    uint64_t atq_mask, head, tail;
    struct expander expander[EXPANDERS];

    struct dac_line *line;
    uint32_t n_lines, cap_lines, free_line;
    /* first and last line of the list of lines that wait for their request, oldest first */
    uint32_t wanted, last_wanted;
    uint64_t ordered;
    /* cycle of the next request; UINT64_MAX if the request must wait for the result of a tag look-up */
    uint64_t ask_at;
    bool ask_full;    /* the L1's request queue is full */
    uint64_t *unlock; /* addresses of the lines to unlock, oldest first */
    uint32_t n_unlock, cap_unlock;
    uint32_t locked; /* number of locked lines */
    uint64_t due;    /* cycle before which the unit has nothing to do, unless `dirty` is set; 0 if unknown */
    bool dirty;      /* the state has changed since the last tick(), so the unit may have work */
    bool out_of_memory;
    struct trace *trace; /* NULL if tracing is off */
    uint64_t traced[N_CURVES];
    uint64_t accounted;
    struct dac_counts n;
};

static inline struct dac_record *dac_record_at(const struct dac_queue *q, uint32_t i) {
    return &q->record[(q->first + i) & (q->cap - 1)];
}
static inline struct atq_entry *atq_at(const struct dac *d, uint64_t seq) { return &d->atq[seq & d->atq_mask]; }

/* Returns how the predicate of an entry is computed: COMPARE_CTA, COMPARE_ENDS or COMPARE_LANES. */
static inline enum affine_compare dac_compare(const struct dac *d, const struct affine_entry *e) {
    return affine_compare_by(d->cfg->dac.corners, e->compare);
}

static inline bool atq_has_room(const struct dac *d) { return d->tail - d->head < d->cfg->dac.atq; }

/* expand.c. */
/* Returns true if the affine warp waits for a predicate that is not yet expanded for all CTAs. The number of this
 * predicate is from->waits. An earlier predicate that is not yet expanded counts, too. */
bool atq_has_predicate(const struct dac *d, const struct dac_stream *from);
/* Appends to the ATQ the entries that step `s` of an affine warp has made. Returns false if memory runs out. */
bool atq_put(struct dac *d, const struct dac_stream *from, const struct affine_step *s);
/* Returns true if an affine warp must not send a predicate, because a predicate queue of its batch is full. */
bool dac_enq_waits(struct dac *d, struct dac_stream *s, uint64_t now);
/* Ends the wait of an affine warp's enq, and counts it. */
void dac_enq_end(struct dac *d, struct dac_stream *s, uint64_t now);
/* Returns the next cycle in which an enq that waits must read the queues again; UINT64_MAX: none. */
static inline uint64_t dac_enq_next(const struct dac *d) {
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < d->cfg->dac.contexts; i++)
        if (d->stream[i].enq_since != NO_TIME && d->stream[i].enq_again < next)
            next = d->stream[i].enq_again;
    return next;
}
void atq_clear(struct dac *d);
/* Simulates one cycle of both expansion units. */
void dac_expand(struct dac *d, uint64_t now);
uint64_t dac_expand_next(const struct dac *d);
/* Removes the record of a warp's oldest entry, after its last lane has taken the entry. */
void dac_pop(struct dac *d, uint32_t slot);

/* lines.c. */
/* Requests the lines of a record, which the warp in `slot` will read. Returns false if memory runs out. */
bool dac_want(struct dac *d, uint32_t slot, struct dac_record *r, const uint64_t *address, const uint8_t *sectors,
              uint32_t n);
/* Releases the lines of a record. With `by_access`, the access that reads the lines also unlocks them. Otherwise each
 * line is unlocked separately. */
void dac_release(struct dac *d, struct dac_record *r, bool by_access);
void dac_ask(struct dac *d, uint64_t now);
uint64_t dac_ask_next(const struct dac *d, uint64_t now);
extern const struct prefetcher_ops dac_requests;

/* account.c: counts queue entries, locked lines and CTAs up to cycle `now`. Call this before one of them changes. */
void dac_account(struct dac *d, uint64_t now);

/* dac_report.c. */
/* Writes the unit's counters to the trace. */
void dac_look(void *u, struct sm *sm, uint64_t now);
void dac_stats(void *u, struct stats *s);
void dac_describe(const void *u, const struct sm *sm, FILE *out);
#endif
