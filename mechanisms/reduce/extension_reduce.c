/* Sums over the lanes of a warp, of PEPSC: the extension and its pass. */
#include "mechanisms/mechanism.h"

const struct mechanism mechanism_reduce = {
    .name = "reduce",
    .help = "PEPSC: sums over the lanes of a warp in one instruction, on a tree of adders (docs/pepsc-passes.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, section III",
    .kind = MECHANISM_EXTENSION,
    .options = PREFIXES("chain.ieee", "reduce."),
    .statistics = PREFIXES("reduce."),
};
