#include "watch.h"
#include "isa/machine/launch.h"
#include "progress.h"
#include "timing/view.h"
#include <math.h>

/* Seconds between two reports. */
static const double interval = 0.2;

static void tell(struct watcher *w) {
    w->told(w->ctx, &w->view);
    w->last = seconds_now();
}

void watch_begin(struct watcher *w, int n, const struct launch *l) {
    if (!w->told)
        return;
    w->view = (struct heddle_view){
        .launch = n,
        .kernel = l->program->name,
        .grid = {l->grid.x, l->grid.y, l->grid.z},
        .block = {l->block.x, l->block.y, l->block.z},
        .ctas = (uint64_t)l->grid.x * l->grid.y * l->grid.z,
    };
    tell(w);
}

bool watch_due(const struct watcher *w) { return w->told && seconds_now() - w->last >= interval; }

void watch_gpu(struct watcher *w, const struct gpu_view *v) {
    w->view.from = v->from;
    w->view.to = v->to;
    w->view.sms = v->n_sms;
    w->view.counts = v;
    watch_ctas(w, v->ctas_done);
    w->view.sms = 0;
    w->view.from = v->to;
    w->view.counts = NULL; /* owned by the caller */
}

void watch_ctas(struct watcher *w, uint64_t done) {
    w->view.ctas_done = done;
    tell(w);
}

void watch_end(struct watcher *w, uint64_t done) {
    if (!w->told)
        return;
    w->view.ended = true;
    watch_ctas(w, done);
}

double heddle_view_stat(const struct heddle_view *v, int sm, const char *name) {
    if (!v->counts || sm < -1 || sm >= (int)v->sms || stat_index(name) < 0)
        return NAN;
    return stats_get(sm < 0 ? v->counts->interval : &v->counts->sm[sm].interval, name);
}

void heddle_view_sm(const struct heddle_view *v, uint32_t sm, uint32_t *ctas, uint32_t *warps) {
    *ctas = v->counts->sm[sm].ctas;
    *warps = v->counts->sm[sm].warps;
}
