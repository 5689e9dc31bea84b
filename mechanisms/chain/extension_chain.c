/* Chained floating-point units of PEPSC: the extension, its pass, and what the pass makes. */
#include "mechanisms/mechanism.h"

const struct mechanism mechanism_chain = {
    .name = "chain",
    .help = "PEPSC: dependent f32 operations in one instruction, on chained FPUs (docs/pepsc.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, section III",
    .kind = MECHANISM_EXTENSION,
    .options = PREFIXES("chain."),
    .statistics = PREFIXES("chain."),
};
