#include "reconv.h"
#include <string.h>

/* Defaults of the papers; the table of option names is timing/config.c. */
void reconv_cfg_default(struct reconv_cfg *cfg) {
    memset(cfg, 0, sizeof *cfg);
    cfg->dws_threshold = 50;
    cfg->si_switch_latency = 6;
    cfg->si_trigger = 1;
    cfg->si_yield_after = 1;
    cfg->si_max_subwarps = WARP_LANES;
}
