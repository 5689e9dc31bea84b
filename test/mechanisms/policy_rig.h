#ifndef TEST_POLICY_RIG_H
#define TEST_POLICY_RIG_H
/* For tests of warp schedulers and CTA policies: a scheduler without an SM, and runs of kernels under a policy. */
#include "host/heddle.h"
#include "mechanisms/all.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include "timing/sm/sched/sched.h"
#include <stdlib.h>

static struct {
    struct sched s; /* freed by rig_stop() */
    struct sched_sm sm;
    struct sched_warp warp[WARP_SLOTS];
    uint32_t age[WARP_SLOTS];
    uint64_t next_cycle;
} rig;

/* Makes the only scheduler of SM number `id`, which has `warps` warps in CTAs of `cta_warps` warps. Warp w belongs to
 * CTA w / cta_warps, which is in the CTA slot of the same number. Warps start in the order of their numbers. `set` is
 * one option, or NULL. */
static inline void rig_start(const char *policy, const char *set, uint32_t id, uint32_t warps, uint32_t cta_warps) {
    char err[256];
    struct config c;
    config_default(&c);
    ck_assert_msg(!set || config_set(&c, set, err, sizeof err), "%s", err);
    c.sm.warps = warps;
    c.sm.schedulers = 1;
    memset(&rig, 0, sizeof rig);
    ck_assert(sched_init(&rig.s, mechanism_scheduler(policy), &c.sm, 0));
    rig.sm = (struct sched_sm){id, cta_warps, warps / cta_warps, &rig.next_cycle, rig.warp};
    rig.s.sm = &rig.sm;
    rig.next_cycle = 1;
    for (uint32_t w = 0; w < warps; w++) {
        rig.age[w] = w;
        rig.warp[w] = (struct sched_warp){w / cta_warps, w / cta_warps};
        sched_warp_starts(&rig.s, w);
    }
}
static inline void rig_stop(void) { sched_free(&rig.s); }

/* Returns the warp that is picked from the set of warps `ready` in cycle `now`. This warp then counts as the warp that
 * issued last. */
static inline int rig_issue(uint64_t now, uint64_t ready) {
    const struct warp_set r = {.word = {ready}};
    rig.next_cycle = now + 1;
    int w = sched_pick(&rig.s, &r, rig.age, rig.s.words);
    sched_issued(&rig.s, w);
    return w;
}

/* Opens a machine with the options `set`, and runs the kernel "k" of `text` with `ctas` CTAs of 32 threads on a zeroed
 * buffer of `bytes` bytes, whose contents it copies to `out`. */
static inline struct heddle *rig_run(const char *config, const char *const *set, uint32_t threads, const char *text,
                                     uint32_t ctas, void *out, uint64_t bytes) {
    char err[512];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = "spe", .config = config, .set = set, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, bytes);
    ck_assert_int_eq(heddle_clear(h, p, bytes), HEDDLE_OK);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, p, out, bytes), HEDDLE_OK);
    return h;
}

/* In each iteration, a thread adds a word to its sum and advances by 64 lines of 128 bytes. CTA c executes c % 8
 * iterations, but at least one, so CTAs end at different times. */
static const char rig_sums[] =
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
    ".reg .pred %q; .reg .b32 %r<9>; .reg .b64 %a<4>;\nld.param.u64 %a1,[p]; mov.u32 %r1,%ctaid.x;\n"
    "mov.u32 %r3,%tid.x; mad.lo.u32 %r2,%r1,64,%r3; mul.wide.u32 %a2,%r2,4; add.u64 %a1,%a1,%a2; mov.u32 %r4,0;\n"
    "mov.u32 %r5,0; and.b32 %r1,%r1,7;\n"
    "L: ld.global.u32 %r6,[%a1]; add.u32 %r5,%r5,%r6; add.u64 %a1,%a1,8192; add.u32 %r4,%r4,1;\n"
    "setp.lt.u32 %q,%r4,%r1; @%q bra L;\nst.global.u32 [%a1],%r5; ret;\n}\n";

/* All statistics are equal with one host thread, four host threads, and simulation of every cycle. */
static inline void rig_check_threads(const char *option) {
    int n;
    const struct stat_def *defs = stat_defs(&n);
    double *first = calloc((size_t)n, sizeof *first);
    static char out[1 << 17];
    ck_assert_ptr_nonnull(first);
    for (int run = 0; run < 3; run++) {
        const char *const set[] = {option, "gpu.sms=5", run == 2 ? "gpu.poll=true" : "gpu.poll=false", NULL};
        struct heddle *h = rig_run("fermi", set, run == 1 ? 4 : 1, rig_sums, 100, out, sizeof out);
        for (int i = 0; i < n; i++) {
            double v = heddle_stat(h, 0, defs[i].name);
            if (run == 0)
                first[i] = v;
            ck_assert_msg(v == first[i] || strncmp(defs[i].name, "host.", 5) == 0, "%s, run %d, %s: %g and %g", option,
                          run, defs[i].name, first[i], v);
        }
        heddle_close(h);
    }
    free(first);
}

/* Runs a random kernel under a model and one option. */
static inline void rig_random(const char *text, const char *model, const char *option, const uint32_t *in,
                              uint32_t *out) {
    char err[512];
    const char *const set[] = {"sm.registers=65536", "sm.shared_bytes=16384", option, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t din = heddle_alloc(h, RANDOM_IN_WORDS * 4), dout = heddle_alloc(h, RANDOM_OUT_WORDS * 4);
    heddle_write(h, din, in, RANDOM_IN_WORDS * 4);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "%s %s: %s", model, option, heddle_error(h));
    heddle_read(h, dout, out, RANDOM_OUT_WORDS * 4);
    heddle_close(h);
}

/* The policy changes only timing: random kernels leave the same memory as in the functional model. */
static inline void rig_check_results(const char *option) {
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    for (unsigned seed = 1; seed <= 4; seed++) {
        char *text = random_kernel(seed * 77, seed % 4);
        random_input(seed, in);
        rig_random(text, "functional", option, in, want);
        rig_random(text, seed % 2 ? "spe" : "si", option, in, got);
        ck_assert_msg(memcmp(got, want, sizeof want) == 0, "%s, seed %u", option, seed * 77);
        free(text);
    }
}
#endif
