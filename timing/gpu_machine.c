/* The machine of a GPU: its SMs and its memory side. */
#include "gpu_parts.h"
#include "timing/mem/memsys.h"
#include "timing/sm/livelock.h"
#include "timing/sm/sm.h"
#include "timing/sm/tma.h"
#include "timing/sm/unit_access.h"
#include "timing/sm/unit_trace.h"
#include <stdlib.h>

void gpu_free_machine(struct gpu *g) {
    windows_free(&g->windows);
    for (uint32_t i = 0; g->sm && i < g->n_sms; i++)
        sm_free(g->sm[i]);
    free(g->sm);
    if (g->mem)
        memsys_free(g->mem);
    g->sm = NULL;
    g->mem = NULL;
}

/* Adds the units of an SM: the units that every GPU has, then the units in opt.units. */
static bool add_units(struct gpu *g, struct sm *sm, uint32_t number) {
    struct trace_range range = {g->opt.trace_from, g->opt.trace_to, g->trace_shift, g->opt.trace_waits};
    bool traced = g->opt.trace && (!g->opt.trace_sms || number < g->opt.trace_sms);
    bool ok = sm_add_unit(sm, &(struct sm_unit_row){&unit_livelock, NULL}) &&
              sm_add_unit(sm, &(struct sm_unit_row){&unit_tma, NULL}) &&
              (!traced || sm_add_unit(sm, &(struct sm_unit_row){&unit_trace, &range}));
    for (uint32_t i = 0; ok && i < g->opt.n_units; i++)
        ok = sm_add_unit(sm, &g->opt.units[i]);
    return ok;
}

static bool use_policies(struct gpu *g) {
    const struct gpu_policies *p = &g->opt.policies;
    bool ok =
        (!p->l2 || memsys_use_replacement(g->mem, p->l2)) && (!p->l2_bypass || memsys_use_bypass(g->mem, p->l2_bypass));
    for (uint32_t s = 0; ok && s < g->n_sms; s++)
        ok = (!p->scheduler || sm_use_scheduler(g->sm[s], p->scheduler)) &&
             (!p->l1 || sm_use_replacement(g->sm[s], p->l1)) &&
             (!p->l1_bypass || sm_use_bypass(g->sm[s], p->l1_bypass));
    return ok;
}

static bool add_prefetchers(struct gpu *g) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->opt.n_prefetchers; i++) {
        const struct prefetcher_row *row = &g->opt.prefetchers[i];
        if (row->level == PREFETCH_AT_L2)
            ok = memsys_add_prefetcher(g->mem, row->ops, row->ctx);
        for (uint32_t s = 0; ok && row->level == PREFETCH_AT_L1 && s < g->n_sms; s++)
            ok = sm_add_prefetcher(g->sm[s], row->ops, row->ctx);
    }
    return ok;
}

void gpu_watch_machine(struct gpu *g) { windows_set_watch(&g->windows, g->watch); }

bool gpu_build_machine(struct gpu *g) {
    g->n_sms = g->cfg.gpu.sms;
    g->mem = memsys_new(&g->cfg);
    g->sm = calloc(g->n_sms, sizeof(struct sm *));
    bool ok = g->mem && g->sm;
    for (uint32_t i = 0; ok && i < g->n_sms; i++)
        ok = (g->sm[i] = sm_new(&g->cfg, g->opt.model, &g->cfg.reconv, g->mem, i)) != NULL && add_units(g, g->sm[i], i);
    if (!ok || !use_policies(g) || !add_prefetchers(g) ||
        !windows_init(&g->windows, g->sm, g->n_sms, g->mem, g->workers)) {
        gpu_free_machine(g);
        return false;
    }
    if (g->watch)
        gpu_watch_machine(g);
    g->now = g->windows.edge;
    for (uint32_t i = 0; i < g->n_programs; i++)
        g->code[i].sms = 0;
    g->broken = g->unbuilt = false;
    return true;
}
