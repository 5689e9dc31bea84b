#ifndef TEST_MECHANISMS_CAE_WATCH_H
#define TEST_MECHANISMS_CAE_WATCH_H
/* Test fixture: checks compact registers in each cycle. */
#include "host/context.h"
#include "mechanisms/cae/cae.h"
#include "test/test.h"
#include "timing/sm/stages.h"
#include <stdio.h>

/* Creates a unit that checks in each cycle that each compact register has the values of its lanes. */
static void *watch_make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg;
    (void)sm;
    return ctx;
}

static void watch_look(void *u, struct sm *sm, uint64_t now) {
    uint32_t warp, number;
    if (cae_mistake(sm, &warp, &number))
        snprintf(u, 128, "cycle %llu: register %u of warp slot %u is not what its compact form says",
                 (unsigned long long)now, number, warp);
}

static const struct sm_unit_ops watch = {.name = "watch", .make = watch_make, .look = watch_look};

/* Opens a machine with one SM and the checking unit. The unit writes its error message to a buffer. */
static struct heddle *open_watched(const char *model, const char *config, const char *const *set, char *found) {
    char err[512];
    const struct sm_unit_row row = {&watch, found};
    *found = '\0';
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = config, .set = set, .cycle_limit = 50000000},
                     &(struct context_parts){.models = &model_tables, .units = &row, .n_units = 1}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}
#endif
