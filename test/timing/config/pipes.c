/* Each entry of timing/config/pipes.def defines a pipe. This file tests that each pipe has its options, its statistic
 * and its state. */
#include "host/heddle.h"
#include "test/test.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include "timing/report/states.h"
#include <stdio.h>

static const struct opt *option(const char *name, const char *what) {
    char key[64];
    snprintf(key, sizeof key, "pipe.%s.%s", name, what);
    for (const struct opt *o = config_options(); o->key; o++)
        if (!strcmp(o->key, key))
            return o;
    ck_abort_msg("no option %s", key);
}

START_TEST(a_row_has_options_a_statistic_and_a_state) {
    const char *name = pipe_rows[_i].name;
    struct config c;
    char statistic[64];
    config_default(&c);
    if (_i != PIPE_MEM)
        ck_assert_double_eq(option(name, "units")->def, c.sm.pipe[_i].units);
    ck_assert_double_eq(option(name, "collectors")->def, c.sm.pipe[_i].collectors);
    ck_assert_uint_ge(c.sm.pipe[_i].in_ports, 1);
    ck_assert_uint_ge(c.sm.pipe[_i].out_ports, 1);
    snprintf(statistic, sizeof statistic, "pipe.%s", name);
    ck_assert_int_ge(stat_index(statistic), 0);
    ck_assert_str_eq(path_state_word((uint8_t)(PATH_READY + _i)), "ready");
    for (int k = 0; k < _i; k++)
        ck_assert_str_ne(pipe_rows[k].name, name);
}
END_TEST

/* If a pipe may delegate its work, it delegates to a pipe that always has units. */
START_TEST(some_pipe_does_the_work) {
    int p = _i;
    for (int steps = 0; pipe_rows[p].instead != p; p = pipe_rows[p].instead)
        ck_assert_int_lt(steps++, N_PIPES);
    if (p == PIPE_MEM) /* the number of units of this pipe is fixed */
        return;
    char key[64], err[512];
    snprintf(key, sizeof key, "pipe.%s.units=0", pipe_rows[p].name);
    const char *const set[] = {key, NULL};
    ck_assert_ptr_null(
        heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set}, err, sizeof err));
    ck_assert_msg(strstr(err, "an SM needs at least one") != NULL, "%s", err);
}
END_TEST

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<4>; .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .b64 %a;\n ld.param.u64 %a,[p];\n mov.u32 %r1,%tid.x;\n"
    " cvt.rn.f32.u32 %f1,%r1;\n ex2.approx.f32 %f2,%f1;\n fma.rn.f32 %f1,%f1,%f2,%f2;\n cvt.f64.f32 %d1,%f1;\n"
    " add.f64 %d1,%d1,%d1;\n mad.lo.u32 %r1,%r1,%r1,%r1;\n st.global.u32 [%a],%r1;\n ret;\n}\n";

/* Every issued instruction is counted for one pipe: its own pipe, or the pipe that executes it instead. */
START_TEST(pipes_share_all_instructions) {
    static const char *const sets[][3] = {
        {NULL}, {"pipe.int.units=2", "pipe.int.collectors=2", NULL}, {"pipe.dp.units=1", "pipe.dp.collectors=1", NULL}};
    char err[512], name[64];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "fermi", .set = sets[_i]}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){2, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 1),
                     HEDDLE_OK);
    double sum = 0;
    for (int k = 0; k < N_PIPES; k++) {
        snprintf(name, sizeof name, "pipe.%s", pipe_rows[k].name);
        sum += heddle_stat(h, 0, name);
    }
    ck_assert_double_eq(sum, heddle_stat(h, 0, "issue.issued"));
    ck_assert_double_eq(sum, 4 * 10); /* four warps */
    ck_assert_int_eq(heddle_stat(h, 0, "pipe.int") > 0, _i == 1);
    /* each warp has a conversion and an addition of f64, which use the SFU if there is no DP pipe */
    ck_assert_double_eq(heddle_stat(h, 0, "pipe.dp"), _i == 2 ? 4 * 2 : 0);
    heddle_close(h);
}
END_TEST

SUITE(timing_config_pipes) {
    TEST_LOOP(a_row_has_options_a_statistic_and_a_state, 0, N_PIPES);
    TEST_LOOP(some_pipe_does_the_work, 0, N_PIPES);
    TEST_LOOP(pipes_share_all_instructions, 0, 3);
}
