/* Speculative reconvergence [Damani et al., CGO 2020]: threads gather at common code inside a loop, instead of at the
 * post-dominator of each branch. A thread that arrives waits there until the other threads of the loop arrive in a
 * later iteration, or leave the loop. The pass has the paper's two forms:
 * - iteration delay: a divergent branch in the loop leads to expensive code, where threads gather
 * - loop merge: an inner loop has a divergent number of iterations, and threads gather at its header
 *
 * The loop gets a convergence barrier: BSSY before the loop, BSYNC and a new BSSY where threads gather, BREAK after
 * each exit of the loop. A barrier of pass_barriers() conflicts if some of its threads may be stopped at the gathering
 * place while others wait at the barrier's join in the loop. The pass removes the BSSY of such a barrier (the paper's
 * static deconfliction), so no thread waits at that join.
 *
 * With specrecon.threshold, the barrier is soft: BSYNC opens for the threads that wait when enough of them wait. They
 * stay in the barrier, so it has no new BSSY, and later arrivals may gather with them again.
 *
 * Built from the public description of the paper. Our choices are: the cost of code (cost_of()), specrecon.ratio and
 * specrecon.trips; one gathering place per outermost loop, the one with the highest ratio; and the loops that the pass
 * leaves alone (reason_against()). Requires: the barriers of pass_barriers(). */
#include "frontend/analysis/affine.h"
#include "frontend/passes/barriers.h"
#include "isa/machine/warpsync.h"
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"

struct place {
    uint32_t loop;  /* index of the loop */
    uint32_t label; /* block where threads gather */
    bool merges;    /* the label is the header of an inner loop */
    double ratio;   /* cost of the common code / cost of the rest of the loop */
};

struct spec {
    struct ir *ir;
    const struct specrecon_cfg *options;
    struct dom_tree dom;
    struct loops loops;
    struct affine affine;
    unsigned char *waits; /* function -> true if it may wait for other threads */
    struct place *best;   /* outermost loop -> its best place; ratio 0: none */
    struct edit *e;
    uint32_t number; /* the next barrier number to use; numbers are used in descending order */
    uint32_t lowest; /* convergence barriers of other passes use the numbers below this number */
};

static const struct inst *last_inst(const struct spec *s, uint32_t b) { return &s->ir->code[s->ir->blocks[b].end - 1]; }

/* ---- the choice ---- */

/* Returns the cost of one execution of block `b`, in issue slots of plain instructions. */
static double cost_of(const struct spec *s, uint32_t b) {
    enum { SLOW = 4, MEMORY = 8, CALL = 32 };
    double cost = 0;
    for (uint32_t i = s->ir->blocks[b].begin; i < s->ir->blocks[b].end; i++) {
        const struct inst *in = &s->ir->code[i];
        bool slow = in->latency == LAT_SFU || in->latency == LAT_INT_DIV || in->latency == LAT_F32_DIV ||
                    (in->latency >= LAT_F64_ADD && in->latency <= LAT_F64_RCP);
        bool memory = in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM || in->kind == K_TEX;
        cost += kind_is_convergence(in->kind) ? 0 : in->kind == K_CALL ? CALL : memory ? MEMORY : slow ? SLOW : 1;
    }
    return cost;
}

/* Returns true if a branch of block `b` may diverge. */
static bool may_diverge(const struct spec *s, uint32_t b) {
    const struct inst *last = last_inst(s, b);
    return last->kind == K_BRANCH && last->guard != NO_GUARD && !(last->hints & HINT_UNI) &&
           affine_guard(&s->affine, s->ir->blocks[b].end - 1) != CLASS_SCALAR;
}

/* Sets the ratio of a place. The common code is the inner loop, or the blocks of the loop that the label dominates. */
static void weigh(const struct spec *s, struct place *p) {
    const struct loop *loop = &s->loops.list[p->loop];
    const struct loop *inner = p->merges ? &s->loops.list[s->loops.headed[p->label]] : NULL;
    double common = 0, rest = 1;
    for (uint32_t b = 0; b < s->ir->n_blocks; b++) {
        if (!loop_has(loop, b))
            continue;
        double cost = cost_of(s, b);
        for (uint32_t d = s->loops.list[s->loops.of[b]].depth; d > loop->depth; d--)
            cost *= s->options->trips;
        bool is_common = inner ? loop_has(inner, b) : dominates(&s->dom, p->label, b);
        *(is_common ? &common : &rest) += cost;
    }
    p->ratio = common / rest;
}

/* Returns why threads must not wait for each other in the loop, or NULL. */
static const char *reason_against(const struct spec *s, const struct loop *loop) {
    const struct ir *ir = s->ir;
    const struct ir_function *f = &ir->functions[ir->blocks[loop->header].function];
    if (f->recursive || f->has_stack)
        return "its function has no convergence barriers";
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (uint32_t i = ir->blocks[b].begin; loop_has(loop, b) && i < ir->blocks[b].end; i++) {
            const struct inst *in = &ir->code[i];
            if (s->loops.irregular[b])
                return "it contains a cycle with several entries";
            if (in->kind == K_BARRIER || warp_sync_hints(in) || in->hints & HINT_DEQ)
                return "its threads act together in another way";
            if (ir->info[i].waits || (in->kind == K_CALL && (in->target == UINT32_MAX || s->waits[in->target])))
                return "its threads may wait for other threads";
        }
    return NULL;
}

static uint32_t outermost(const struct spec *s, uint32_t loop) {
    while (s->loops.list[loop].parent != NO_LOOP)
        loop = s->loops.list[loop].parent;
    return loop;
}

/* Considers a place: keeps it if it is the best one of its outermost loop. */
static void consider(struct spec *s, struct place p) {
    const struct ir *ir = s->ir;
    const struct loop *loop = &s->loops.list[p.loop];
    const struct block *label = &ir->blocks[p.label];
    const char *why_not = reason_against(s, loop);
    uint32_t line = s->options->line;
    struct place *best = &s->best[outermost(s, p.loop)];
    weigh(s, &p);
    if (line && (line < ir->info[label->begin].line || line > ir->info[label->end - 1].line))
        return;
    if (!why_not && !line && p.ratio < s->options->ratio)
        why_not = "the rest of the loop costs too much";
    if (why_not)
        ir_note(s->ir, label->begin, "left alone, in the loop of line %u: %s", ir->info[loop->header].line, why_not);
    else if (p.ratio > best->ratio)
        *best = p;
}

static bool exits_apart(const struct spec *s, const struct loop *loop) {
    for (uint32_t e = 0; e < loop->n_exits; e++)
        if (may_diverge(s, loop->exits[e].from))
            return true;
    return false;
}

static void find_places(struct spec *s) {
    const struct cfg *g = &s->ir->cfg;
    for (uint32_t l = 0; l < s->loops.n; l++) {
        const struct loop *loop = &s->loops.list[l];
        if (loop->parent != NO_LOOP && exits_apart(s, loop))
            consider(s, (struct place){.loop = loop->parent, .label = loop->header, .merges = true});
    }
    for (uint32_t b = 0; b < g->n; b++) {
        uint32_t loop = s->loops.of[b];
        if (loop == NO_LOOP || g->pred_first[b + 1] - g->pred_first[b] != 1)
            continue;
        uint32_t from = g->pred[g->pred_first[b]];
        if (s->loops.of[from] == loop && g->succ_first[from + 1] - g->succ_first[from] == 2 && may_diverge(s, from))
            consider(s, (struct place){.loop = loop, .label = b});
    }
}

/* ---- barriers that conflict ---- */

/* Returns true if all threads that execute the instruction stop taking part in barrier `number`. */
static bool ends_part(const struct inst *in, uint32_t number) {
    return (in->kind == K_BSYNC || (in->kind == K_BREAK && in->guard == NO_GUARD)) && in->imm == (int64_t)number;
}

/* Searches backward from the beginning of block `label`. Marks the BSSYs of barrier `number` whose threads may still
 * take part in this barrier there. */
static void mark_parts(const struct spec *s, uint32_t label, uint32_t number, unsigned char *marks) {
    const struct ir *ir = s->ir;
    const struct cfg *g = &ir->cfg;
    unsigned char *seen = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1);
    uint32_t *stack = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *stack), n = 0;
    stack[n++] = label;
    while (n) {
        uint32_t to = stack[--n];
        for (uint32_t e = g->pred_first[to]; e < g->pred_first[to + 1]; e++) {
            uint32_t b = g->pred[e], i = ir->blocks[b].end;
            if (seen[b])
                continue;
            seen[b] = 1;
            bool ends = false;
            while (!ends && i-- > ir->blocks[b].begin) {
                bool begins = ir->code[i].kind == K_BSSY && ir->code[i].rpc == number;
                marks[i] |= begins;
                ends = begins || ends_part(&ir->code[i], number);
            }
            if (!ends)
                stack[n++] = b;
        }
    }
}

static bool joins_inside(const struct spec *s, const struct loop *loop, uint32_t number) {
    for (uint32_t b = 0; b < s->ir->n_blocks; b++)
        for (uint32_t i = s->ir->blocks[b].begin; loop_has(loop, b) && i < s->ir->blocks[b].end; i++)
            if (s->ir->code[i].kind == K_BSYNC && s->ir->code[i].imm == (int64_t)number)
                return true;
    return false;
}

/* Marks the BSSYs to remove for the place. Returns false if one of them is outside the loop. */
static bool find_conflicts(const struct spec *s, const struct place *p, unsigned char *marks) {
    const struct loop *loop = &s->loops.list[p->loop];
    for (uint32_t number = 0; number < s->lowest; number++)
        if (joins_inside(s, loop, number))
            mark_parts(s, p->label, number, marks);
    for (uint32_t i = 0; i < s->ir->n; i++)
        if (marks[i] && !loop_has(loop, s->ir->info[i].block))
            return false;
    return true;
}

/* Removes the joins and BREAKs of each barrier that has no BSSY any more. */
static void remove_idle(const struct spec *s, const unsigned char *removed) {
    const struct ir *ir = s->ir;
    uint32_t used = 0, numbers = 0;
    for (uint32_t i = 0; i < ir->n; i++)
        if (ir->code[i].kind == K_BSSY)
            *(removed[i] ? &numbers : &used) |= 1u << ir->code[i].rpc;
    for (uint32_t i = 0; i < ir->n; i++)
        if ((ir->code[i].kind == K_BSYNC || ir->code[i].kind == K_BREAK) && (numbers & ~used) >> ir->code[i].imm & 1)
            edit_remove(s->e, i);
}

/* ---- the rewriting ---- */

/* Adds the convergence barrier with which threads gather at the place. */
static void gather(struct spec *s, const struct place *p) {
    const struct loop *loop = &s->loops.list[p->loop];
    struct inst begin = barrier_inst("#bssy"), sync = barrier_inst("#bsync"), out = barrier_inst("#break");
    unsigned char *done = arena_array(s->ir->tmp, (size_t)s->ir->n_blocks + 1, 1);
    uint32_t header = loop->header, before = edit_preheader(s->e, loop);
    begin.target = p->label;
    begin.rpc = --s->number;
    sync.imm = out.imm = s->number;
    if (s->e->blocks[before].next != header) {
        struct inst jump = edit_make_jump(header);
        jump.hints |= HINT_APART;
        edit_set_end(s->e, before, &jump, NO_BLOCK);
    }
    edit_at_end(s->e, before, &begin);
    sync.msize = (uint8_t)s->options->threshold;
    if (!sync.msize)
        edit_at_begin(s->e, p->label, &begin);
    edit_at_begin(s->e, p->label, &sync);
    for (uint32_t e = 0; e < loop->n_exits; e++) {
        uint32_t to = loop->exits[e].to;
        if (!done[to] && !s->ir->info[s->ir->blocks[to].begin].only_exits)
            edit_at_begin(s->e, to, &out);
        done[to] = 1;
    }
    ir_count(s->ir, p->merges ? "specrecon.merged_loops" : "specrecon.delays", 1);
    ir_note(s->ir, s->ir->blocks[p->label].begin, "threads in the loop of line %u gather here: barrier %u",
            s->ir->info[s->ir->blocks[header].begin].line, s->number);
}

static void gather_all(struct spec *s) {
    struct ir *ir = s->ir;
    unsigned char *removed = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    for (uint32_t l = 0; l < s->loops.n; l++) {
        const struct place *p = &s->best[l];
        unsigned char *marks = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
        if (p->ratio == 0)
            continue;
        if (s->number == s->lowest || !find_conflicts(s, p, marks)) {
            ir_note(ir, ir->blocks[p->label].begin, "left alone: %s",
                    s->number == s->lowest ? "all barrier numbers are in use"
                                           : "it conflicts with a barrier that begins outside the loop");
            continue;
        }
        gather(s, p);
        for (uint32_t i = 0; i < ir->n; i++)
            if (marks[i] && !removed[i]) {
                removed[i] = 1;
                edit_remove(s->e, i);
                ir_count(ir, "specrecon.cancelled", 1);
                ir_note(ir, i, "barrier %u taken out: threads gather inside its region", ir->code[i].rpc);
            }
    }
    remove_idle(s, removed);
}

static bool run(struct ir *ir) {
    struct spec s = {.ir = ir, .options = &ir->context.machine->specrecon, .number = N_BARRIERS};
    s.dom = ir_dominators(ir);
    s.loops = find_loops(ir->tmp, &ir->cfg, &s.dom);
    s.affine = find_affine(ir->tmp, ir);
    s.waits = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    s.best = arena_array(ir->tmp, (size_t)s.loops.n + 1, sizeof *s.best);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        bool indirect = in->kind == K_CALL && in->target == UINT32_MAX;
        s.waits[ir->info[i].function] |= in->kind == K_BARRIER || warp_sync_hints(in) || ir->info[i].waits || indirect;
        if (in->kind == K_BSSY && in->rpc >= s.lowest)
            s.lowest = in->rpc + 1;
    }
    ir_mark_callers(ir, s.waits);
    find_places(&s);
    s.e = edit_begin(ir);
    gather_all(&s);
    return edit_end(s.e);
}

static bool wanted(const struct ir *ir) { return pass_extension(&ir->context, "specrecon") && ir->uses_barriers; }

static const struct pass pass_specrecon = {
    .name = "specrecon",
    .help = "threads gather at common code in loops",
    .run = run,
    .wanted = wanted,
    .when = "models with the extension 'specrecon'",
    .before = "liveness",
};

static const char *refuse(const struct model_spec *s) {
    bool barriers = s->base->ops->flags & RECONV_BARRIERS;
    return barriers ? NULL : "places convergence barriers; take a base that has them: its or si";
}

static void count_launch(const struct program *p, const struct config *cfg, struct stats *s) {
    static const char *const names[] = {"specrecon.delays", "specrecon.merged_loops", "specrecon.cancelled"};
    (void)cfg;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        stats_add(s, names[i], program_count(p, names[i]));
}

const struct mechanism mechanism_specrecon = {
    .name = "specrecon",
    .help = "speculative reconvergence: threads gather at common code in loops (docs/models.md)",
    .paper = "Damani, Johnson, Stephenson, Keckler, Yan, McKeown and Giroux, Speculative reconvergence for improved "
             "SIMT efficiency, CGO 2020",
    .kind = MECHANISM_EXTENSION,
    .refuse = refuse,
    .passes = PASSES(&pass_specrecon),
    .count = count_launch,
    .options = PREFIXES("specrecon."),
    .statistics = PREFIXES("specrecon."),
};
