#ifndef MECHANISMS_CAE_PARTS_H
#define MECHANISMS_CAE_PARTS_H
/* Internal to the unit: cae.c tracks the warps and counts, cae_choice.c decides how an instruction executes, cae_form.c
 * creates the forms for it. */
#include "cae.h"
#include "cae_tags.h"
#include "timing/report/trace.h"
#include "timing/sm/unit_access.h"

/* Why an instruction does not execute on an affine unit. */
enum cae_why { CAE_FITS, CAE_MEMORY, CAE_DIVERGENT, CAE_SOURCE, CAE_RULE, CAE_RANGE, N_CAE_WHY };

/* Data of an instruction for compact execution. */
struct cae_inst {
    uint16_t source[4]; /* register numbers of the sources a, b, c and e, from cae_number() */
    uint16_t guard;     /* number of the guard's register; CAE_CONSTANT: no guard */
    uint8_t rule;       /* enum affine_rule */
    uint8_t widens;     /* bytes of the narrow operand a (or a and b) before it is widened; 0: no widening */
    uint8_t narrow;     /* bytes of the result before it is extended to a wider register; 0: no extension */
    bool is_signed, narrow_signed;
    bool branch; /* the instruction is a jump that all lanes take or no lane takes */
    /* the instruction is a folded chain: some lanes write one register, and the other lanes write another register */
    bool parts;
};

struct cae_form {
    struct sm_form form;
    struct cae_form *next; /* next form of the same instruction */
    uint32_t compact;      /* bit i: read i uses the compact file */
    uint16_t expands;      /* bit i: written register i is first expanded into the vector register file */
    bool result;           /* the result goes to the compact file */
    bool unit;             /* the instruction executes on an affine unit */
    /* register file banks of the registers of `form`: first the registers of form.ti.banks, then those of form.other; a
     * written register that is also expanded has two entries */
    uint8_t bank[3 * MAX_INST_REGS];
};

/* How an instruction executes. */
struct cae_choice {
    uint8_t why;   /* enum cae_why */
    uint8_t class; /* enum affine_class of its result */
    bool full;     /* all live lanes execute the instruction, or no lane does */
};

/* The current bar in a row of the trace. A row shows one instruction at a time, from its issue to its result. */
struct cae_bar {
    uint64_t from, until; /* cycles of begin and end; `until` is UINT64_MAX while there is no result yet */
    uint32_t warp, pc;
};

struct cae_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "cae.def"
};

struct cae {
    const struct config *cfg;
    const struct sm *sm;
    struct cae_map map;
    struct cae_inst *inst;   /* indexed by PC */
    struct cae_form **forms; /* indexed by PC */
    struct cae_tag *tags;    /* map.n tags for each warp slot */
    uint32_t parts;
    struct regfile *file;   /* one register file for each SM part */
    struct cae_choice last; /* the last choice; last_form: the form of the instruction that was chosen */
    const struct cae_form *last_form;
    uint32_t last_warp, last_pc; /* the instruction of the last choice */
    uint64_t busy, waits;        /* busy cycles and wait cycles of the pipes that earlier launches have reported */
    struct trace *trace;         /* NULL: off */
    struct cae_bar bar[TRACE_UNIT_TRACKS];
    uint32_t compact[WARP_SLOTS]; /* for each warp slot: number of scoreboard registers that are compact now */
    struct cae_counts n;
};

static inline struct cae_tag *cae_tags(const struct cae *u, uint32_t warp) { return u->tags + (size_t)warp * u->map.n; }
/* Returns the tag numbers and the affine rule of the instruction at `pc`. They are fixed for a launch. */
struct cae_inst cae_inst_of(const struct cae_map *m, const struct program *p, uint32_t pc);
struct cae_choice cae_choose(const struct cae *u, uint32_t warp, uint32_t pc, rowmask_t lanes);
/* Returns the form for a choice; NULL: the program's own form, or memory has run out. */
const struct cae_form *cae_form_for(struct cae *u, uint32_t warp, uint32_t pc, struct cae_choice c);
void cae_forms_free(struct cae *u);

/* cae_trace.c draws the instructions of the affine units in the trace. These functions do nothing without a trace. */
void cae_trace_launch(struct cae *u, struct sm *sm);
/* Records that an affine unit has received the instruction. */
void cae_trace_issued(struct cae *u, const struct sm_issued *i);
void cae_trace_written(void *unit, struct sm *sm, const struct sm_written *r);
#endif
