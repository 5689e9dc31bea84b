/* A pass that adds a fact about blocks: the number of instructions of each block. */
#include "models.h"
#include "passes.h"

static bool run(struct ir *ir) {
    uint32_t *length = ir_add_fact(ir, ECHO_FACT);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        length[b] = ir->blocks[b].end - ir->blocks[b].begin;
    return true;
}

static bool wanted(const struct ir *ir) { return pass_fact(&ir->context, ECHO_FACT); }

const struct pass block_lengths = {
    .name = "block_lengths",
    .help = "the length of each block, as a fact",
    .run = run,
    .wanted = wanted,
    .when = "models that ask for the fact toy.length",
};
