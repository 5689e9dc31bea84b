/* Measures the processor time of a launch that does nothing: one CTA of one warp, whose only instruction ends it. Such
 * a launch costs what every launch costs: setting up the SMs, and collecting the statistics. Prints CSV with the name
 * of each preset and the microseconds of a launch: the best of ROUNDS rounds of LAUNCHES launches each. Part of `make
 * bench`.
 * Usage: launches_speed [LAUNCHES [ROUNDS [PRESET...]]] */
#include "host/heddle.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char kernel[] = ".version 7.0\n"
                             ".target sm_70\n"
                             ".address_size 64\n"
                             ".visible .entry nothing() { ret; }\n";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool launch(struct heddle *h, struct heddle_module *m, int launches) {
    const struct heddle_dim grid = {1, 1, 1}, block = {32, 1, 1};
    for (int i = 0; i < launches; i++)
        if (heddle_launch(h, m, "nothing", grid, block, 0, NULL, 0) != HEDDLE_OK)
            return false;
    return true;
}

/* Prints the time of a launch on one preset. */
static bool measure(const char *preset, int launches, int rounds) {
    const struct heddle_options o = {.model = "spe", .config = preset};
    char err[512] = "";
    double best = 1e9;
    struct heddle *h = heddle_open(&o, err, sizeof err);
    struct heddle_module *m = h ? heddle_module_text(h, "nothing", kernel, strlen(kernel)) : NULL;
    bool ok = m != NULL;
    for (int i = 0; ok && i < rounds; i++) {
        double t = now();
        ok = launch(h, m, launches);
        t = (now() - t) / launches;
        best = t < best ? t : best;
    }
    if (ok)
        printf("%s,%.4g\n", preset, best * 1e6);
    else
        fprintf(stderr, "launches_speed: %s: %s\n", preset, h ? heddle_error(h) : err);
    heddle_close(h);
    return ok;
}

int main(int argc, char **argv) {
    const int launches = argc > 1 ? atoi(argv[1]) : 10000, rounds = argc > 2 ? atoi(argv[2]) : 5;
    char fermi[] = "fermi", gv100[] = "gv100", *usual[] = {fermi, gv100};
    char **preset = argc > 3 ? argv + 3 : usual;
    for (int n = argc > 3 ? argc - 3 : 2; n > 0; n--, preset++)
        if (!measure(*preset, launches > 0 ? launches : 1, rounds))
            return 2;
    return 0;
}
