/* Runs a launch on a machine with random options (fuzz_time.h). */
#include "fuzz_time.h"
#include "isa/paths/reconv_spe.h"
#include "mechanisms/all.h"
#include "test/bases.h"
#include "test/every_model.h"
#include "test/random.h"
#include "timing/footprint.h"
#include "timing/gpu.h"
#include <stdlib.h>
#include <string.h>

enum { CYCLES = 20000, MOST_OPTIONS = 6, MOST_BYTES = 32 << 20 };

const struct reconv_ops *fuzz_model(uint64_t seed) { return base_models()->ops[seed % (uint64_t)base_models()->n]; }

/* Sets a random option to an end of its range, or to a value inside. */
static void set_at_random(struct config *c, uint64_t *state) {
    char text[160], err[256];
    uint32_t n = 0;
    while (config_options()[n].key)
        n++;
    const struct opt *o = &config_options()[test_random(state) % n];
    uint64_t how = test_random(state) % 5, r = test_random(state);
    if (o->kind == OPT_KIND_BOOL) {
        snprintf(text, sizeof text, "%s=%s", o->key, r & 1 ? "on" : "off");
    } else if (o->kind == OPT_KIND_ENUM) {
        const char *at = o->choices;
        for (r %= 4; r && strchr(at, ' '); r--)
            at = strchr(at, ' ') + 1;
        snprintf(text, sizeof text, "%s=%.*s", o->key, (int)strcspn(at, " "), at);
    } else {
        double span = o->max - o->min;
        double v = how == 0   ? o->min
                   : how == 1 ? o->max
                   : how == 2 ? o->min + (double)(1ull << r % 32)
                   : how == 3 ? o->min + (double)(r % 64)
                              : o->min + (double)(r % (1u << 20)) / (1u << 20) * span;
        snprintf(text, sizeof text, "%s=%.0f", o->key, v > o->max ? o->max : v);
    }
    config_set(c, text, err, sizeof err);
}

/* Makes a small valid machine. Random options that the configuration's checks refuse are dropped. */
static void configure(struct config *c, const struct reconv_ops *model, uint64_t state) {
    static const char *const presets[] = {"fermi", "tiny", "turing", "volta-classic", "gt200", "turing-rtx2060"};
    char err[512];
    struct config start;
    if (!config_load(&start, presets[test_random(&state) % (sizeof presets / sizeof presets[0])], err, sizeof err))
        config_default(&start);
    start.gpu.sms = 1 + (uint32_t)(test_random(&state) & 1);
    *c = start;
    for (uint64_t n = test_random(&state) % MOST_OPTIONS; n; n--) {
        struct config before = *c;
        set_at_random(c, &state);
        if (!config_check(c, err, sizeof err) || footprint(c, model) > MOST_BYTES)
            *c = before;
    }
}

bool fuzz_time(const struct launch *l, uint64_t seed, FILE *quiet) {
    const struct reconv_ops *model = fuzz_model(seed);
    struct config c;
    configure(&c, model, seed);
    struct launch timed = *l;
    struct gpu_options o = {
        .model = model, .threads = 1, .trace = seed >> 20 & 1 ? quiet : NULL, .profile = seed >> 21 & 1};
    o.trace_to = UINT64_MAX;
    struct sm_unit_row units[MAX_UNITS]; /* of options */
    o.units = units;
    o.n_units = mechanism_units(model_tables.mechanisms, &(struct model_spec){.base = NULL}, &c, units, MAX_UNITS - 2);
    timed.cycle_limit = CYCLES;
    struct gpu *g = gpu_new(&c, &o);
    struct stats stats;
    if (!g || !stats_init(&stats))
        abort();
    char why[512];
    struct fault fault = {0};
    bool ended = gpu_fits(g, &timed, why, sizeof why) && gpu_run(g, &timed, &stats, &fault);
    if (!ended) {
        fault_print(&fault, &timed, quiet);
        fault_free(&fault);
    }
    stats_free(&stats);
    gpu_free(g);
    return ended;
}
