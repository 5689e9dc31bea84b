/* Tracks the compact registers of each warp, selects the form in which an instruction executes, and counts events. */
#include "cae_parts.h"
#include "mechanisms/mechanism.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct cae *u = calloc(1, sizeof *u);
    (void)sm;
    (void)ctx;
    if (!u)
        return NULL;
    u->cfg = cfg;
    u->parts = cfg->sm.subcores ? cfg->sm.schedulers : 1;
    u->file = calloc(u->parts, sizeof *u->file);
    uint32_t banks = cfg->cae.banks / u->parts;
    for (uint32_t i = 0; u->file && i < u->parts; i++)
        regfile_init(&u->file[i], banks ? banks : 1, cfg->sm.operands, cfg->cae.result_bus);
    if (!u->file) {
        free(u);
        return NULL;
    }
    return u;
}

static void forget_launch(struct cae *u) {
    cae_forms_free(u);
    cae_map_free(&u->map);
    free(u->inst);
    free(u->tags);
    u->inst = NULL;
    u->tags = NULL;
}

static void cae_free(void *unit) {
    struct cae *u = unit;
    forget_launch(u);
    free(u->file);
    free(u);
}

static bool launch(void *unit, struct sm *sm, uint64_t now) {
    struct cae *u = unit;
    const struct program *p = sm_get_program(sm)->program;
    (void)now;
    forget_launch(u);
    u->sm = sm;
    cae_trace_launch(u, sm);
    sm_unit_listen(sm, &cae_unit, HOOK_WRITTEN, u->trace != NULL);
    if (!cae_map_init(&u->map, p))
        return false;
    u->inst = calloc((size_t)p->n + 1, sizeof *u->inst);
    u->forms = calloc((size_t)p->n + 1, sizeof *u->forms);
    u->tags = calloc((size_t)WARP_SLOTS * u->map.n + 1, sizeof *u->tags);
    if (!u->inst || !u->forms || !u->tags)
        return false;
    for (uint32_t pc = 0; pc < p->n; pc++)
        u->inst[pc] = cae_inst_of(&u->map, p, pc);
    return true;
}

static void launch_end(void *unit, struct sm *sm) {
    (void)sm;
    forget_launch(unit);
}

static void begin_cta(void *unit, struct sm *sm, uint32_t cta, uint64_t now) {
    struct cae *u = unit;
    (void)now;
    const struct warp_set *warps = &sm_get_cta(sm, cta)->warps;
    uint32_t w;
    for (struct warp_walk at = warp_walk(warps); warp_next(&at, warps, WARP_WORDS, &w);) {
        cae_tags_start(&u->map, cae_tags(u, w), sm_get_warp(sm, w));
        u->compact[w] = 0;
    }
}

static void choose(struct cae *u, uint32_t warp, uint32_t pc, lanemask_t lanes) {
    u->last = cae_choose(u, warp, pc, (rowmask_t)lanes);
    u->last_form = cae_form_for(u, warp, pc, u->last);
    u->last_warp = warp;
    u->last_pc = pc;
}

static const struct sm_form *form(void *unit, struct sm *sm, const struct sm_candidate *c) {
    struct cae *u = unit;
    if (sm_is_context(sm, c->warp))
        return NULL;
    choose(u, c->warp, c->pc, c->lanes);
    return u->last_form ? &u->last_form->form : NULL;
}

static void set_tag(struct cae *u, uint32_t warp, uint16_t reg, struct cae_tag t) {
    struct cae_tag *to = &cae_tags(u, warp)[reg];
    u->compact[warp] += (t.class != CLASS_VECTOR) - (to->class != CLASS_VECTOR);
    *to = t;
    if (u->compact[warp] > u->n.most)
        u->n.most = u->compact[warp];
}

/* Updates the tags of the registers that the instruction writes. If `done` is set, the registers have been written.
 * Otherwise they will be written later, by lanes that are not known yet. */
static void follow(struct cae *u, const struct sm_issued *i, bool done) {
    const struct warp *w = sm_get_warp(u->sm, i->warp);
    const struct sb_regs *r = &i->ti->regs;
    if (done && !i->fx->lanes)
        return;
    bool compact = done && u->last.class != CLASS_VECTOR;
    for (unsigned k = 0; k < r->n_write; k++) {
        struct cae_tag t = {.class = CLASS_VECTOR};
        if (compact)
            t = cae_tag_of(&u->map, r->write[k], w, i->fx->lanes);
        /* the affine rule promised a class (u->last.class); the actual result may only be more compact */
        assert(!compact || t.class <= u->last.class);
        set_tag(u, i->warp, r->write[k], t);
    }
}

/* Handles a return from a recursive function: it restores registers from memory, so all registers of the warp become
 * vectors. */
static void restored(struct cae *u, uint32_t warp) {
    for (uint32_t k = 0; k < u->map.program->n_regs; k++)
        set_tag(u, warp, (uint16_t)k, (struct cae_tag){.class = CLASS_VECTOR});
}

/* Returns the counter of an instruction of the affine units. The class of its result selects the counter. If no lane
 * executed the instruction, the expected class of the result selects the counter. */
static uint64_t *kind_of(struct cae *u, const struct sm_issued *i) {
    const struct sb_regs *r = &i->ti->regs;
    if (i->in->kind == K_BRANCH)
        return &u->n.control;
    bool left = r->n_write && i->fx && i->fx->lanes;
    uint8_t class = left ? cae_tags(u, i->warp)[r->write[0]].class : u->last.class;
    return class == CLASS_SCALAR ? &u->n.scalar : &u->n.affine;
}

static void count(struct cae *u, const struct sm_issued *i) {
    const struct cae_form *f = u->last_form;
    bool unit = f && f->unit;
    u->n.why[unit ? CAE_FITS : u->last.why == CAE_FITS ? CAE_RULE : u->last.why]++;
    u->n.compact_sum += u->compact[i->warp];
    if (unit)
        *kind_of(u, i) += 1;
    else if (u->last.class != CLASS_VECTOR)
        u->n.loads++;
    if (!f)
        return;
    u->n.reads += f->form.other.n_reads;
    u->n.writes += f->form.other.n_writes;
    u->n.expanded_operands += unit ? 0 : f->form.other.n_reads;
    u->n.expanded_registers += (unsigned)__builtin_popcount(f->expands);
}

static void issued(void *unit, struct sm *sm, const struct sm_issued *i) {
    struct cae *u = unit;
    if (i->phase == ISSUE_PERFORMED || sm_is_context(sm, i->warp))
        return; /* instructions are counted at issue; a warp that belongs to no CTA has no compact registers */
    if (u->last_warp != i->warp || u->last_pc != i->pc) /* form() has run for other members of a joint issue */
        choose(u, i->warp, i->pc, i->lanes);
    follow(u, i, i->phase == ISSUE_DONE);
    if (u->trace && u->last_form && u->last_form->unit)
        cae_trace_issued(u, i);
    if (!(i->ti->flags & TIMED_FREE))
        count(u, i);
    if (i->in->kind == K_RET && u->map.restores)
        restored(u, i->warp);
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct cae_counts
#include "cae.def"
};
/* clang-format on */

static void add_stats(void *unit, struct stats *s) {
    struct cae *u = unit;
    struct pipe_use pipe = {0, 0};
    uint64_t conflicts = 0;
    if (u->sm)
        pipe = sm_pipe_use(u->sm, PIPE_AFFINE);
    for (uint32_t p = 0; u->sm && p < u->parts; p++) {
        conflicts += u->file[p].n.read_waits + u->file[p].n.write_waits;
        memset(&u->file[p].n, 0, sizeof u->file[p].n);
    }
    STATS_COUNT(s, rows, &u->n);
    stats_put(s, STAT_cae_busy_cycles, (double)(pipe.busy - u->busy));
    stats_put(s, STAT_cae_stall_cycles, (double)(pipe.waits - u->waits));
    stats_put(s, STAT_cae_bank_conflicts, (double)conflicts);
    u->busy = pipe.busy;
    u->waits = pipe.waits;
    memset(&u->n, 0, sizeof u->n);
}

bool cae_mistake(const struct sm *sm, uint32_t *warp, uint32_t *number) {
    const struct cae *u = sm_unit_state(sm, &cae_unit);
    for (*warp = 0; u && u->tags && *warp < WARP_SLOTS; ++*warp) {
        for (*number = 0; sm_is_live(sm, *warp) && !sm_is_context(sm, *warp) && *number < u->map.n; ++*number)
            if (!cae_tag_fits(&u->map, (uint16_t)*number, &cae_tags(u, *warp)[*number], sm_get_warp(sm, *warp)))
                return true;
    }
    return false;
}

const struct sm_unit_ops cae_unit = {
    .name = "cae",
    .make = make,
    .free = cae_free,
    .launch = launch,
    .launch_end = launch_end,
    .cta_start = begin_cta,
    .form = form,
    .issued = issued,
    .written = cae_trace_written,
    .stats = add_stats,
};

const struct mechanism mechanism_cae = {
    .name = "cae",
    .help = "compact affine execution: what is affine in a warp is done once for it, "
            "on a unit of its own (docs/cae-mta.md)",
    .paper = "Microarchitectural Mechanisms to Exploit Value Structure in SIMT Architectures, ISCA 2013",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .one_row = "tags rows of 32 lanes",
    .groups = GROUPS("units for affine values"),
    .unit = &cae_unit,
    .options = PREFIXES("cae."),
    .statistics = PREFIXES("cae."),
};
