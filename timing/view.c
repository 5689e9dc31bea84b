#include "view.h"
#include "timing/sm/sm.h"
#include <stdlib.h>

bool view_init(struct gpu_view *v, uint32_t n_sms) {
    *v = (struct gpu_view){.sm = calloc(n_sms, sizeof *v->sm)};
    while (v->sm && v->n_sms < n_sms && stats_init(&v->sm[v->n_sms].interval))
        v->n_sms++;
    return v->sm && v->n_sms == n_sms;
}

void view_free(struct gpu_view *v) {
    for (uint32_t i = 0; i < v->n_sms; i++)
        stats_free(&v->sm[i].interval);
    free(v->sm);
}

void view_collect(struct gpu_view *v, struct sm *const *sm, uint64_t to, struct stats *all) {
    for (uint32_t i = 0; i < v->n_sms; i++) {
        struct gpu_view_sm *own = &v->sm[i];
        stats_clear(&own->interval);
        sm_stats(sm[i], to, &own->interval);
        stats_merge(all, &own->interval);
        own->ctas = sm_status(sm[i])->ctas;
        own->warps = sm_describe(sm[i], 0, NULL);
    }
}
