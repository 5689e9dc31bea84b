#ifndef MECHANISMS_CAE_PARTS_H
#define MECHANISMS_CAE_PARTS_H
/* The inside of the unit: cae.c follows the warps and counts, cae_choice.c says which way an instruction goes,
 * cae_form.c makes the forms for it. */
#include "cae.h"
#include "cae_tags.h"
#include "timing/report/trace.h"
#include "timing/sm/unit_access.h"

/* What an instruction was not executed on an affine unit for. */
enum cae_why { CAE_FITS, CAE_MEMORY, CAE_DIVERGENT, CAE_SOURCE, CAE_RULE, CAE_RANGE, N_CAE_WHY };

/* An instruction, for this purpose. */
struct cae_inst {
    uint16_t source[4]; /* a b c e: cae_number() */
    uint16_t guard;     /* CAE_CONSTANT: none */
    uint8_t rule;       /* enum affine_rule */
    uint8_t widens;     /* bytes that a, or a and b, are widened from; 0: they are not */
    uint8_t narrow;     /* bytes of a result that is extended to a wider register; 0: it is not */
    bool is_signed, narrow_signed;
    bool branch; /* a jump that all lanes take, or none */
    bool parts;  /* a folded chain: some lanes write one register, the others another */
};

struct cae_form {
    struct sm_form form;
    struct cae_form *next;           /* of the same instruction */
    uint32_t compact;                /* bit i: read i is in the compact file */
    uint16_t expands;                /* bit i: written register i is brought to the banks first */
    bool result;                     /* what is written goes to the compact file */
    bool unit;                       /* it executes on an affine unit */
    uint8_t bank[3 * MAX_INST_REGS]; /* of form.ti.banks (who expands writes twice), then of form.other */
};

/* Which way an instruction goes. */
struct cae_choice {
    uint8_t why;   /* enum cae_why */
    uint8_t class; /* enum affine_class of what it writes */
    bool full;     /* all live lanes execute it, or none */
};

/* A row of the trace: one instruction at a time, from its issue to its result. */
struct cae_bar {
    uint64_t from, until; /* UINT64_MAX: the result has not come */
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
    struct cae_inst *inst;   /* by PC */
    struct cae_form **forms; /* by PC */
    struct cae_tag *tags;    /* map.n for each warp slot */
    uint32_t parts;
    struct regfile *file;   /* one for each part */
    struct cae_choice last; /* of the form that was asked for last, and the form */
    const struct cae_form *last_form;
    uint64_t busy, waits; /* of the pipes: counted so far */
    struct trace *trace;  /* NULL: off */
    struct cae_bar bar[TRACE_UNIT_TRACKS];
    uint32_t compact[WARP_SLOTS]; /* registers of the scoreboard that are compact, by warp slot */
    struct cae_counts n;
};

static inline struct cae_tag *cae_tags(const struct cae *u, uint32_t warp) { return u->tags + (size_t)warp * u->map.n; }
/* Looks an instruction up, once a launch. */
struct cae_inst cae_inst_of(const struct cae_map *m, const struct program *p, uint32_t pc);
struct cae_choice cae_choose(const struct cae *u, uint32_t warp, uint32_t pc, lanemask_t lanes);
/* The form for a choice; NULL: the program's own, or memory is out. */
const struct cae_form *cae_form_for(struct cae *u, uint32_t warp, uint32_t pc, struct cae_choice c);
void cae_forms_free(struct cae *u);

/* cae_trace.c: nothing where there is no trace. */
void cae_trace_launch(struct cae *u, struct sm *sm);
/* An affine unit has got the instruction. */
void cae_trace_issued(struct cae *u, const struct sm_issued *i);
void cae_trace_written(void *unit, struct sm *sm, const struct sm_written *r);
#endif
