#ifndef MECHANISMS_DAC_PARTS_H
#define MECHANISMS_DAC_PARTS_H
/* Inside of the unit: dac.c (affine warp, batches), expand.c (ATQ, expansion units, the warps' queues), lines.c
 * (requests and locks), account.c (counts of queues), dac_report.c (statistics, deadlock reports). */
#include "isa/affine/supply.h"
#include "timing/sm/sm.h"
#include "timing/sm/unit_access.h"

extern const struct sm_unit_ops unit_dac;

enum { CURVE_ATQ, CURVE_ADDRESSES, CURVE_PREDICATES, CURVE_LOCKED, N_CURVES };
enum { EXPANDERS = N_QUEUES, NO_TIME = 0, RETRY_CYCLES = 32, PATIENCE = 10000, NO_LINE = UINT32_MAX };

/* A line that an entry needs. */
enum line_state {
    LINE_WANTED,  /* to be asked for */
    LINE_ASKED,   /* in the L1's queue */
    LINE_COMING,  /* locked, and on its way */
    LINE_LOCKED,  /* locked, and there */
    LINE_WITHOUT, /* read when it is needed, as any other */
};
struct dac_line {
    uint64_t address, serial; /* serial: of its record in the warp's queue */
    uint64_t order;           /* among all that were ever wanted */
    uint64_t again;           /* not to be asked for before this cycle */
    uint64_t since;           /* that it was first refused a lock; NO_TIME */
    uint64_t refused;         /* since when it has had nothing but refusals; NO_TIME */
    uint32_t next;            /* of the record; or free */
    uint32_t next_wanted;     /* of those to be asked for */
    uint32_t warp;            /* slot */
    uint8_t sectors, state;   /* enum line_state */
    bool orphan;              /* its record is gone: unlock it when its answer has come */
};

/* What is known of an entry in a warp's address queue beside the entry itself. */
struct dac_record {
    uint32_t lines;   /* how many it takes of the queue: at least 1 */
    uint32_t line;    /* list of those asked for; NO_LINE: none */
    uint32_t waiting; /* of these, not there yet */
    lanemask_t lanes; /* that it was for */
    bool locked;      /* all of its lines are */
    bool late;        /* a path has waited for them */
};

/* The two queues of a warp. */
struct dac_queue {
    struct dac_record *record; /* ring of the address queue, beside supply's */
    uint32_t first, n, cap;    /* cap: 0, or a power of two */
    uint64_t serial;           /* of the first */
    uint32_t asking;           /* lines that were asked for, and have no answer from the tags; */
    uint64_t asked;            /* of this record */
    uint32_t used[N_QUEUES];   /* of the sizes */
    bool starved[N_QUEUES];    /* a path found no entry for all its lanes, and nothing has come since */
};

/* What one enq has sent. */
struct atq_entry {
    uint64_t number; /* of a predicate's enq, in the launch */
    uint32_t site;
    uint8_t queue; /* enum supply_queue */
    uint32_t n_ctas;
    uint32_t left;                /* CTAs of the batch that are not expanded, by bit */
    uint8_t cta[AFFINE_CTAS];     /* slots */
    struct affine_entry *entries; /* by CTA and warp */
};

/* An expansion unit: what it does now. */
struct expander {
    uint64_t done_at; /* NO_TIME: nothing */
    uint64_t seq;     /* of the ATQ's entry */
    uint32_t cta;     /* of the batch */
    uint32_t warp;    /* first of the CTA that it does now, and how many */
    uint32_t n_warps;
    bool spills;
    uint32_t turn;     /* CTA slot that was served last */
    uint64_t retry_at; /* while it does nothing: when somebody may have waited too long; UINT64_MAX: nobody does */
    bool full;         /* it does nothing, since all that have an entry have no room */
};

/* What one warp's entry is in the address queue. A lane's access lies in two lines at most, in local memory in one for
 * each word. */
enum { DAC_LINES = 4 * WARP_LANES };
struct dac_plan {
    uint64_t line[DAC_LINES];
    uint8_t sectors[DAC_LINES];
    uint64_t low, high; /* of these lines */
    uint32_t n_lines, records, cycles;
    bool early; /* its lines are asked for now */
    bool wide;  /* more lines than the queue holds: one record with the tuple */
};

/* A CTA's place in the stream of entries: an accumulator of the expansion units. */
struct dac_cta {
    uint32_t index;              /* in its batch */
    uint32_t passed;             /* barriers */
    uint64_t seq[EXPANDERS];     /* next entry of the ATQ */
    uint32_t warp[EXPANDERS];    /* next warp of it */
    bool begun[EXPANDERS];       /* the start address was computed */
    uint64_t blocked[EXPANDERS]; /* since when that warp has had no room; NO_TIME: it has */
    /* that warp, and what of its queue it needs and was not there when it was looked at */
    uint32_t full_slot[EXPANDERS], full_records[EXPANDERS];
    bool full[EXPANDERS];
    bool planned; /* `plan` is that of the next warp */
    uint32_t n_warps;
    uint16_t slot[MAX_CTA_WARPS];
    struct dac_plan plan;
};

struct dac_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "dac.def"
};

struct dac {
    const struct config *cfg;
    struct sm *sm; /* of this launch */
    const struct prefetch_place *l1;
    bool active; /* the kernel has an affine stream */
    uint32_t most_ctas, size[N_QUEUES];
    struct affine_engine
        *engine;          /* from the launch's first CTA here on, as are `supply` and `queue`; NULL: none came */
    struct supply supply; /* by warp slot */
    struct dac_queue *queue;
    uint64_t filled[N_QUEUES]; /* what all of them hold */
    struct dac_cta cta[SM_CTA_SLOTS];
    uint64_t pending, serving;            /* CTA slots without a stream, and those whose batch has begun; */
    uint64_t sent_to[EXPANDERS];          /* of these, those for whom the ATQ may have entries of a unit */
    uint64_t came_at;                     /* cycle in which the last CTA came */
    uint32_t batch[AFFINE_CTAS], n_batch; /* CTA slots of the batch that the affine warp is at */

    uint32_t context;      /* slot of the affine warp; NO_CONTEXT */
    uint32_t repeat;       /* further slots that its instruction takes */
    uint32_t lanes, words; /* of it: lanes that compute in a slot; words of each operand's word that it touches there */
    uint64_t waits;        /* number of the predicate that must have been expanded before it goes on, 0: none */
    uint64_t numbers;      /* of predicates that batches before sent, */
    uint32_t sent;         /* and this one */
    bool sends;            /* the affine warp's next instruction is an enq */

    struct atq_entry *atq; /* ring of cfg->dac.atq or more, by the low bits of the number: */
    uint64_t atq_mask, head, tail;
    struct expander expander[EXPANDERS];

    struct dac_line *line;
    uint32_t n_lines, cap_lines, free_line;
    uint32_t wanted, last_wanted; /* to be asked for, oldest first */
    uint64_t ordered;
    uint64_t ask_at;  /* cycle; UINT64_MAX: when the tags have answered */
    bool ask_full;    /* the L1's queue of such requests */
    uint64_t *unlock; /* addresses, oldest first */
    uint32_t n_unlock, cap_unlock;
    uint32_t locked; /* lines now */
    uint64_t due;    /* there is nothing to do before this cycle unless `dirty`; 0: not known */
    bool dirty;      /* something has changed since tick() */
    bool out_of_memory;
    struct trace *trace; /* NULL: off */
    uint64_t traced[N_CURVES];
    uint64_t accounted;
    struct dac_counts n;
};

static inline struct dac_record *dac_record_at(const struct dac_queue *q, uint32_t i) {
    return &q->record[(q->first + i) & (q->cap - 1)];
}
static inline struct atq_entry *atq_at(const struct dac *d, uint64_t seq) { return &d->atq[seq & d->atq_mask]; }

static inline bool atq_has_room(const struct dac *d) { return d->tail - d->head < d->cfg->dac.atq; }

/* expand.c. */
/* Is a predicate up to the one with this number not yet expanded for some CTA? 0: none is. */
bool atq_has_predicate(const struct dac *d, uint64_t last);
/* Puts what a step has sent at the end of the ATQ. False: memory is out. */
bool atq_put(struct dac *d, const struct affine_step *s);
void atq_clear(struct dac *d);
/* One cycle of both expansion units. */
void dac_expand(struct dac *d, uint64_t now);
uint64_t dac_expand_next(const struct dac *d);
/* The record of a warp's oldest entry is gone with its last lane. */
void dac_pop(struct dac *d, uint32_t slot);

/* lines.c. */
/* The lines of a record, which the warp in `slot` will read. False: memory is out. */
bool dac_want(struct dac *d, uint32_t slot, struct dac_record *r, const uint64_t *address, const uint8_t *sectors,
              uint32_t n);
/* The record's lines are read: unlocked by the access that reads them, or one by one. */
void dac_release(struct dac *d, struct dac_record *r, bool by_access);
void dac_ask(struct dac *d, uint64_t now);
uint64_t dac_ask_next(const struct dac *d, uint64_t now);
extern const struct prefetcher_ops dac_requests;

/* account.c: adds the current state of the queues for all cycles up to `now`. Must precede any change of them. */
void dac_account(struct dac *d, uint64_t now);

/* dac_report.c. */
/* Curves of the trace. */
void dac_look(void *u, struct sm *sm, uint64_t now);
void dac_stats(void *u, struct stats *s);
void dac_describe(const void *u, const struct sm *sm, FILE *out);
#endif
