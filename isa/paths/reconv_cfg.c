#include "reconv.h"
#include <string.h>

uint32_t reconv_return_rpc(const struct program *p, const struct target *t, int n) {
    uint32_t rpc = PC_EXIT;
    for (int i = 0; i < n && n > 1; i++) {
        if (p->functions[p->info[t[i].pc].function].recursive)
            continue;
        if (rpc != PC_EXIT) /* two targets are outside recursive functions, so their lanes may never meet */
            return PC_EXIT;
        rpc = t[i].pc;
    }
    return rpc;
}

void reconv_cfg_default(struct reconv_cfg *cfg) {
    memset(cfg, 0, sizeof *cfg);
#define OPT_U32(field, key, def, ...)         cfg->field = def;
#define OPT_BOOL(field, key, def, ...)        cfg->field = def;
#define OPT_ENUM2(field, key, type, def, ...) cfg->field = def;
#define OPT_ENUM3(field, key, type, def, ...) cfg->field = def;
#include "isa/paths/reconv.def"
}
