#ifndef TEST_HOST_COPY_WAYS_H
#define TEST_HOST_COPY_WAYS_H
/* The ways in which tests of asynchronous copies run their kernels. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"

/* Configurations in which each kernel runs, besides every timing model: the functional model with native code and
 * interpreted, models with extensions, and other machines. */
static const struct {
    const char *model, *config, *set[2];
} ways[] = {
    {"functional", NULL, {NULL}},
    {"functional", NULL, {"gpu.jit=off"}},
    {"functional", NULL, {"reconv=dws"}},
    {"spe+dac", NULL, {"dac.shared=on"}},
    {"its+dac", NULL, {NULL}},
    {"spe+cae", NULL, {NULL}},
    {"spe+mta", NULL, {NULL}},
    {"spe+ddp", NULL, {NULL}},
    {"pepsc", "pepsc", {NULL}},
    {"spe", "pepsc-16", {NULL}},
    {"spe", "turing", {NULL}},
    {"its", "volta-classic", {NULL}},
    {"spe", "tiny", {NULL}},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

static int n_ways(void) { return N_WAYS + timed_models()->n; }

/* On PEPSC, warps run one after another, so a warp that spins at an mbarrier prevents the other warp from arriving. */
static bool runs_one_warp(int way) { return way < N_WAYS && ways[way].config && ways[way].config[0] == 'p'; }

/* Opens a context and the module `file`. */
static struct heddle *open_copy_way(int way, const char *file, struct heddle_module **m) {
    char err[512] = "";
    struct heddle_options o = {.model = timed_models()->name[way < N_WAYS ? 0 : way - N_WAYS]};
    if (way < N_WAYS)
        o = (struct heddle_options){.model = ways[way].model, .config = ways[way].config, .set = ways[way].set};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    *m = heddle_module_file(h, file);
    ck_assert_msg(*m != NULL, "%s", heddle_error(h));
    return h;
}
#endif
