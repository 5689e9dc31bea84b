/* Single-path execution, the baseline. Its stack is implemented in isa/paths/reconv_spe.c, because the interpreter uses
 * it, too. */
#include "mechanisms/mechanism.h"

const struct mechanism mechanism_spe = {
    .name = "spe",
    .help = "single-path execution: a reconvergence stack",
    .paper = "Rhu and Erez, The dual-path execution model for efficient GPU control flow, HPCA 2013, section 2.1",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"functional",
             "no time: results and instruction counts, as fast as possible; --set reconv=MODEL chooses its paths",
             &reconv_spe, true, NULL},
            {"spe", "single-path execution: a reconvergence stack, the baseline", &reconv_spe, false, NULL},
            {.name = NULL},
        },
};
