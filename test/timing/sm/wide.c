/* Tests SMs with the maximum number of warps, and with one warp: every warp runs, results are right, and events and
 * polling give the same results. */
#include "host/context.h"
#include "test/every_model.h"
#include "test/test.h"
#include "test/toys/units.h"
#include <stdio.h>

/* Each thread adds its number to p[0]. Odd and even lanes take different paths and then wait at the same barrier. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    " .reg .b32 %r<8>; .reg .b64 %a; .reg .pred %q;\n ld.param.u64 %a,[p];\n mov.u32 %r1,%tid.x;\n"
    " and.b32 %r2,%r1,1;\n setp.eq.u32 %q,%r2,0;\n ld.global.u32 %r3,[%a+4];\n @%q bra EVEN;\n"
    " add.u32 %r1,%r1,%r3;\n bra JOIN;\nEVEN: mad.lo.u32 %r1,%r1,%r3,%r1;\n"
    "JOIN: bar.sync 0;\n red.global.add.u32 [%a],%r1;\n ret;\n}\n";

static const char *const presets[] = {"fermi", "fermi-gpgpusim", "gt200",         "pepsc",
                                      "tiny",  "turing",         "volta-classic", "turing-rtx2060"};
static const char *const policies[] = {"lrr", "gto", "two_level", "oldest", "youngest", "cggty"};
enum { N_PRESETS = 8, N_POLICIES = 3 };

struct wide {
    double cycles, resident;
    uint32_t sum;
};

static struct wide run(const char *model, const char *preset, const char *const set[], uint32_t ctas, uint32_t threads,
                       struct issue_meter *m) {
    char err[512];
    const struct sm_unit_row row = {&issue_meter_unit, m};
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = preset, .set = set, .threads = 1},
                     &(struct context_parts){.models = &model_tables, .units = m ? &row : NULL, .n_units = m != NULL},
                     err, sizeof err);
    ck_assert_msg(h != NULL, "%s %s: %s", model, preset, err);
    struct heddle_module *mod = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(mod != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 8);
    heddle_clear(h, p, 8);
    const struct heddle_arg args[] = {{&p, 8}};
    heddle_launch(h, mod, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args, 1);
    ck_assert_msg(heddle_launches(h) == 1, "%s %s: %s", model, preset, heddle_error(h));
    struct wide w = {heddle_stat(h, 0, "gpu.cycles"), heddle_stat(h, 0, "gpu.max_resident_warps"), 0};
    ck_assert_int_eq(heddle_read(h, p, &w.sum, 4), HEDDLE_OK);
    heddle_close(h);
    return w;
}

/* Returns the expected sum. p[1] is 0, so each thread adds its own number: a CTA of n threads adds n(n-1)/2. */
static uint32_t sum_of(uint32_t ctas, uint32_t threads) { return ctas * (threads * (threads - 1) / 2); }

/* 8 CTAs of 16 warps fill 128 slots. All warps diverge and issue both paths: at least 11 instructions each, and the
 * same number in every warp. */
START_TEST(all_128_warps_run) {
    const char *model = base_models()->name[_i % base_models()->n], *preset = presets[_i / base_models()->n];
    const char *set[] = {"sm.warps=128", "sm.ctas=8", "sm.registers=1048576", "gpu.sms=1", "gpu.poll=false", NULL};
    struct issue_meter m = {.gap = 0};
    struct wide w = run(model, preset, set, 8, 512, &m);
    ck_assert_uint_eq(w.sum, sum_of(8, 512));
    ck_assert_double_eq(w.resident, 128);
    for (uint32_t i = 0; i < 256; i++)
        ck_assert_msg(i < 128 ? m.issued[i] >= 11 && m.issued[i] == m.issued[0] : !m.issued[i], "%s %s: slot %u: %u",
                      model, preset, i, (unsigned)m.issued[i]);
    set[4] = "gpu.poll=true";
    ck_assert_double_eq(run(model, preset, set, 8, 512, NULL).cycles, w.cycles);
}
END_TEST

/* Runs all policies with one to eight schedulers. */
START_TEST(every_policy_runs_all_warps) {
    const char *model = base_models()->name[_i % base_models()->n];
    static const char *const schedulers[] = {"sm.schedulers=1", "sm.schedulers=4", "sm.schedulers=8"};
    char policy[64];
    snprintf(policy, sizeof policy, "sched.policy=%s", policies[_i / base_models()->n]);
    for (int s = 0; s < 3; s++) {
        const char *set[] = {"sm.warps=128", "sm.ctas=8",   "sm.registers=1048576", "gpu.sms=1",
                             policy,         schedulers[s], "gpu.poll=false",       NULL};
        struct issue_meter m = {.gap = 0};
        struct wide w = run(model, "fermi", set, 8, 512, &m);
        ck_assert_uint_eq(w.sum, sum_of(8, 512));
        ck_assert_double_eq(w.resident, 128);
        for (uint32_t i = 0; i < 128; i++)
            ck_assert_uint_eq(m.issued[i], m.issued[0]);
        set[6] = "gpu.poll=true";
        ck_assert_double_eq(run(model, "fermi", set, 8, 512, NULL).cycles, w.cycles);
    }
}
END_TEST

/* With one warp at a time, three CTAs run one after another. */
START_TEST(one_warp_is_enough) {
    const char *const set[] = {"sm.warps=1", "sm.schedulers=1", "sm.subcores=false", "gpu.sms=1", NULL};
    struct issue_meter m = {.gap = 0};
    struct wide w = run(base_models()->name[_i % base_models()->n], presets[_i / base_models()->n], set, 3, 32, &m);
    ck_assert_uint_eq(w.sum, sum_of(3, 32));
    ck_assert_double_eq(w.resident, 1);
    for (uint32_t i = 0; i < 256; i++)
        ck_assert(i ? !m.issued[i] : m.issued[i] >= 3 * 11);
}
END_TEST

SUITE(timing_sm_wide) {
    TEST_LOOP(all_128_warps_run, 0, base_models()->n * N_PRESETS);
    TEST_LOOP(every_policy_runs_all_warps, 0, base_models()->n * N_POLICIES);
    TEST_LOOP(one_warp_is_enough, 0, base_models()->n * N_PRESETS);
}
