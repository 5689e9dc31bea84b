/* Software-pipelines innermost loops of one block. "PEPSC: A Power-Efficient Processor for Scientific Computing" hides
 * the latency of its chained FPUs by software pipelining, because it has few threads. The method is described by Rau,
 * see pipeline.h. The pass runs after `chain` and keeps the instructions of `chain`, because after pipelining the
 * operations of a chain would be in different iterations. Requires: blocks. Keeps: what each lane computes, bit for
 * bit, and the order of a lane's accesses to memory if two may overlap and one writes. The pass may change how far
 * apart, in iterations, the lanes of a warp are at a given time. */
#include "pipeline.h"
#include "frontend/passes/pass.h"
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"

struct pipelining {
    struct ir *ir;
    struct edit *edit;
    struct defuse defuse;
    uint32_t max_registers; /* 0: no limit */
};

/* Returns true if the loop is one block whose last branch goes back to its beginning. */
static bool is_candidate(const struct ir *ir, const struct loops *loops, uint32_t l) {
    const struct loop *loop = &loops->list[l];
    const struct inst *last = &ir->code[ir->blocks[loop->header].end - 1];
    return loop->n_blocks == 1 && !loops->irregular[loop->header] && last->kind == K_BRANCH &&
           last->target == loop->header;
}

/* Returns true if the block after b only jumps back to b. */
static bool goes_back(const struct ir *ir, uint32_t b) {
    if (b + 1 == ir->n_blocks || ir->blocks[b + 1].function != ir->blocks[b].function)
        return false;
    const struct block *next = &ir->blocks[b + 1];
    const struct inst *in = &ir->code[next->begin];
    return next->end == next->begin + 1 && in->kind == K_BRANCH && in->guard == NO_GUARD && in->target == b;
}

/* Turns "@p bra OUT; bra LOOP;" at the end of a loop, as clang writes it, into a branch back to the beginning. Returns
 * true if it changed a loop. */
static bool turn_branches(struct ir *ir) {
    struct edit *edit = NULL;
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        struct inst last = ir->code[ir->blocks[b].end - 1];
        uint32_t out = last.target;
        if (last.kind != K_BRANCH || last.guard == NO_GUARD || out == b || !goes_back(ir, b) ||
            ir->info[ir->blocks[b].end - 1].twin)
            continue;
        edit = edit ? edit : edit_begin(ir);
        last.target = b;
        last.guard_not ^= 1;
        edit_set_end(edit, b, &last, out);
    }
    return !edit || edit_end(edit);
}

static uint32_t most_live(const struct ir *ir, uint32_t block) {
    uint32_t most = 0;
    for (uint32_t i = ir->blocks[block].begin; i < ir->blocks[block].end; i++)
        most = ir->live_at[i] > most ? ir->live_at[i] : most;
    return most;
}

static void count(struct ir *ir, const struct pipe_schedule *s) {
    ir_count(ir, "pipeline.loops", 1);
    ir_count(ir, "pipeline.cycles", s->ii);
    ir_count(ir, "pipeline.stages", s->stages);
    ir_count(ir, "pipeline.registers", s->words);
}

static void try_loop(struct pipelining *p, uint32_t block) {
    struct ir *ir = p->ir;
    uint32_t where, jump = ir->blocks[block].end - 1;
    const char *why = pipe_refuse(ir, block, &where);
    struct pipe_wish wish = {.load = (unsigned)pass_option(&ir->context, "pepsc.pipeline_load", 20),
                             .stages = (unsigned)pass_option(&ir->context, "pepsc.pipeline_stages", 4),
                             .registers = INT32_MAX};
    if (!why && ir->n_streams && ir->blocks[block].function)
        why = "both streams call this function";
    if (why && where != jump)
        ir_note(ir, jump, "left alone: line %u %s", ir->info[where].line, why);
    else if (why)
        ir_note(ir, jump, "left alone: %s", why);
    if (why)
        return;
    struct pipe_graph g = pipe_graph_of(ir, &p->defuse, block);
    struct pipe_schedule s;
    if (p->max_registers) {
        uint32_t now = most_live(ir, block);
        wish.registers = now < p->max_registers ? p->max_registers - now : 0;
    }
    if ((why = pipe_schedule(&g, &wish, &s))) {
        ir_note(ir, jump,
                "left alone: %s: %.1f cycles an iteration; at least %u by its %u instructions, %u by recurrences", why,
                s.plain, s.res_mii, g.n, s.rec_mii);
        return;
    }
    ir_note(ir, jump,
            "pipelined: an iteration every %u cycles, in order %.1f in place of %.1f; at least %u by its %u "
            "instructions, %u by "
            "recurrences; %u stage%s, kernel of %u iteration%s, %d registers more, loads counted as %u cycles",
            s.ii, s.cycles, s.plain, s.res_mii, g.n, s.rec_mii, s.stages, s.stages == 1 ? "" : "s", s.rounds,
            s.rounds == 1 ? "" : "s", (int)s.words, s.load);
    count(ir, &s);
    pipe_emit(p->edit, &g, &s);
}

/* Computes the register pressure and frees the liveness data, so that later edits need not update it. */
static bool find_pressure(struct pipelining *p) {
    p->max_registers = register_limit(p->ir, NULL);
    if (p->max_registers && !pass_liveness(p->ir))
        return false;
    p->ir->intervals = NULL;
    return true;
}

static bool run(struct ir *ir) {
    if (!turn_branches(ir))
        return false;
    struct pipelining p = {.ir = ir, .defuse = find_defuse(ir->tmp, ir)};
    struct dom_tree dom = ir_dominators(ir);
    struct loops loops = find_loops(ir->tmp, &ir->cfg, &dom);
    if (!find_pressure(&p))
        return false;
    p.edit = edit_begin(ir);
    for (uint32_t l = 0; l < loops.n; l++) {
        uint32_t b = loops.list[l].header;
        if (!is_candidate(ir, &loops, l) ||
            (ir->n_streams && ir->functions[ir->blocks[b].function].is_entry && ir->blocks[b].function))
            continue;
        ir_count(ir, "pipeline.candidates", 1);
        try_loop(&p, b);
    }
    return edit_end(p.edit);
}

static bool wanted(const struct ir *ir) { return pass_option(&ir->context, "pepsc.pipeline", 0) != 0; }

static const struct pass pass_pipeline = {
    .name = "pipeline",
    .help = "iterations of innermost loops begin before the one before has ended",
    .before = "waits",
    .run = run,
    .wanted = wanted,
    .when = "machines with software pipelining (pepsc.pipeline)",
};

static void count_launch(const struct program *p, const struct config *cfg, struct stats *s) {
    static const char *const names[] = {"pipeline.candidates", "pipeline.loops", "pipeline.cycles", "pipeline.stages",
                                        "pipeline.registers"};
    for (size_t i = 0; cfg->pipeline.on && i < sizeof names / sizeof names[0]; i++)
        stats_add(s, names[i], program_count(p, names[i]));
}

const struct mechanism mechanism_pipeline = {
    .name = "pipeline",
    .help = "software pipelining of innermost loops (docs/pepsc-passes.md)",
    .paper = "Rau, Iterative modulo scheduling: an algorithm for software pipelining loops, MICRO 1994",
    .kind = MECHANISM_MACHINE,
    .passes = PASSES(&pass_pipeline),
    .count = count_launch,
    .options = PREFIXES("pepsc.pipeline"),
    .statistics = PREFIXES("pipeline."),
};
