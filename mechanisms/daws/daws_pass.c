/* Finds the outermost loop around each block, a fact for the unit of daws. Requires: the final blocks. Keeps: the
 * program. */
#include "daws_parts.h"
#include "frontend/analysis/ir.h"
#include "frontend/analysis/loops.h"
#include <string.h>

static bool wanted(const struct ir *ir) { return pass_extension(&ir->context, "daws"); }

static uint32_t outermost(const struct loops *l, uint32_t loop) {
    while (l->list[loop].parent != NO_LOOP)
        loop = l->list[loop].parent;
    return loop;
}

static bool run(struct ir *ir) {
    const struct dom_tree dom = ir_dominators(ir);
    const struct loops loops = find_loops(ir->tmp, &ir->cfg, &dom);
    uint32_t *loop = ir_add_fact(ir, FACT_LOOP);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        loop[b] = loops.of[b] == NO_LOOP ? 0 : outermost(&loops, loops.of[b]) + 1;
    return true;
}

static void dump(const struct ir *ir, FILE *out) {
    for (uint32_t f = 0; f < ir->n_facts; f++)
        for (uint32_t b = 0; strcmp(ir->facts[f].name, FACT_LOOP) == 0 && b < ir->n_blocks; b++)
            if (ir->facts[f].of_block[b])
                fprintf(out, "block %u (line %u): loop %u\n", b, ir->info[ir->blocks[b].begin].line,
                        ir->facts[f].of_block[b]);
}

const struct pass pass_daws_loops = {
    .name = "daws-loops",
    .help = "the outermost loop around each block, in which daws predicts footprints",
    .run = run,
    .wanted = wanted,
    .when = "models with the extension 'daws'",
    .dump = dump,
    .before = "emit",
};
