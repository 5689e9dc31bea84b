/* Finds the priorities of blocks and the blocks for conservative branches, as facts for reconvergence models. Requires:
 * the final blocks. Keeps: the program. */
#include "frontiers_parts.h"
#include "priority.h"

static bool wanted(const struct ir *ir) { return pass_fact(&ir->context, FACT_PRIORITY); }

/* Notes the barriers at which a warp may arrive while some of its threads are elsewhere. */
static void note_barriers(struct ir *ir, const struct frontier_sets *f) {
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        if (ir->code[ir->blocks[b].end - 1].kind == K_BARRIER && frontier_first(f, b) != NO_BLOCK)
            ir_note(ir, ir->blocks[b].end - 1,
                    "threads may wait at lower priority while others arrive at this barrier");
}

static struct frontier_sets analyse(const struct ir *ir) {
    uint32_t *roots = arena_array(ir->tmp, (size_t)ir->n_functions + 1, sizeof *roots);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        roots[f] = ir->functions[f].block;
    return find_frontiers(ir->tmp, &ir->cfg, find_priorities(ir->tmp, &ir->cfg, roots, ir->n_functions));
}

static bool run(struct ir *ir) {
    struct frontier_sets f = analyse(ir);
    uint32_t *priority = ir_add_fact(ir, FACT_PRIORITY), *frontier = ir_add_fact(ir, FACT_FRONTIER);
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        priority[b] = f.priority[b];
        frontier[b] = frontier_first(&f, b);
    }
    note_barriers(ir, &f);
    return true;
}

static void dump(const struct ir *ir, FILE *out) {
    struct frontier_sets f = analyse(ir);
    for (uint32_t at = 0; at < ir->n_blocks; at++) {
        uint32_t b = f.block[at];
        fprintf(out, "block %u (line %u): priority %u, frontier", b, ir->info[ir->blocks[b].begin].line, at);
        for (uint32_t k = at + 1; k < ir->n_blocks; k++)
            if (frontier_has(&f, b, f.block[k]))
                fprintf(out, " %u", f.block[k]);
        fprintf(out, frontier_first(&f, b) == NO_BLOCK ? " empty\n" : "\n");
    }
}

const struct pass pass_frontiers = {
    .name = "frontiers",
    .help = "priorities and thread frontiers of blocks, for models that schedule by priority",
    .run = run,
    .wanted = wanted,
    .when = "models that schedule blocks by priority (frontiers)",
    .dump = dump,
    .before = "emit",
};
