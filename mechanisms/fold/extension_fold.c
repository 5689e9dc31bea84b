/* Folded branches of PEPSC: the extension and its pass. */
#include "mechanisms/mechanism.h"

const struct mechanism mechanism_fold = {
    .name = "fold",
    .help = "PEPSC: short f32 operations on both sides of a branch in one instruction (docs/pepsc.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, section III",
    .kind = MECHANISM_EXTENSION,
    .options = PREFIXES("chain."),
};
