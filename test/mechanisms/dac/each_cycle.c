/* Checks the affine warp's hardware in each cycle, for random kernels and for launches that end in a fault.
 * each_lines.c and each_wait.c test small hand-written kernels. */
#include "each_rig.h"
#include "test/random/affine_kernel.h"

static const char *const variants[][4] = {{NULL},
                                          {"dac.atq=1", "dac.pwaq=1", "dac.pwpq=1"},
                                          {"dac.atq=2", "dac.batch=2", "dac.pwaq=96"},
                                          {"l1.size=1024", "l1.ways=2", "dac.pwaq=1024"},
                                          {"l1.size=512", "l1.ways=1"},
                                          {"l1.size=1024", "l1.ways=2", "dac.lock_timeout=100"},
                                          {"l1.size=0", "dac.pwpq=1"},
                                          {"memory.perfect_l1=true", "dac.atq=3"},
                                          {"lsu.prefetch_queue=1", "l1.mshrs=2", "dac.shared=on"},
                                          {"dac.contexts=4", "dac.batch=1"},
                                          {"dac.contexts=3", "sm.ctas=2", "dac.atq=2", "dac.pwpq=1"},
                                          {"dac.contexts=4", "dac.batch=1", "dac.atq=1", "dac.pwaq=1"},
                                          {"dac.contexts=2", "dac.atq=3", "dac.batch=2", "l1.size=512"}};
enum { VARIANTS = sizeof variants / sizeof variants[0], KERNELS = 27 };

START_TEST(affine_kernels_at_random) {
    for (uint64_t seed = 1 + (uint64_t)_i; seed <= KERNELS; seed += 4) {
        struct affine_kernel k = affine_kernel(seed + 400);
        const char *set[5] = {NULL};
        char what[100];
        int v = (int)(seed % VARIANTS);
        const char *model = model_in_turn(seed / 3);
        for (int i = 0; i < 4 && variants[v][i]; i++)
            set[i] = variants[v][i];
        open_with(model, "fermi", set);
        snprintf(what, sizeof what, "seed %llu, %s, variant %d", (unsigned long long)seed, model, v);
        struct heddle_module *mod = heddle_module_text(h, "random.ptx", k.text, strlen(k.text));
        ck_assert_msg(mod != NULL, "%s: %s", what, heddle_error(h));
        uint64_t in = heddle_alloc(h, 4 * AFFINE_IN_WORDS) + 2 * AFFINE_IN_WORDS,
                 out = heddle_alloc(h, 4ull * AFFINE_SLICE * k.threads);
        struct heddle_arg args[] = {{&out, 8}, {&in, 8}, {&k.n, 4}, {&k.stride, 4}, {&k.far, 8}};
        ck_assert_msg(heddle_launch(h, mod, heddle_kernel(mod, 0), (struct heddle_dim){k.grid[0], k.grid[1], k.grid[2]},
                                    (struct heddle_dim){k.block[0], k.block[1], k.block[2]}, 0, args, 5) == HEDDLE_OK,
                      "%s: %s", what, heddle_error(h));
        check_figures(what);
        free(k.text);
    }
}
END_TEST

/* A fault ends a launch while lines are requested, in flight, or locked for warps that will never read them. The next
 * launch must start without locked lines, and with statistics of its own. The faults (traps) come at different times,
 * so that lines are in different states. */
START_TEST(a_fault_leaves_no_state) {
    static const char head[] = ".visible .entry %s(.param .u64 p)\n{\n"
                               ".reg .b32 %%r<40>; .reg .b64 %%a<4>; .reg .pred %%q;\n ld.param.u64 %%a1,[p];\n"
                               " mov.u32 %%r1,%%tid.x; mad.wide.u32 %%a2,%%r1,128,%%a1; mov.u32 %%r2,%%clock;\n";
    static char text[16384];
    size_t at = (size_t)snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n");
    at += (size_t)snprintf(text + at, sizeof text - at, head, "wrong");
    for (int i = 0; i < _i * 12; i++) /* delay: instructions that remain in the kernel's own stream */
        at += (size_t)snprintf(text + at, sizeof text - at, " mad.lo.u32 %%r2,%%r2,%%r2,%%r2;\n");
    at += (size_t)snprintf(text + at, sizeof text - at,
                           " setp.ne.u32 %%q,%%r2,77; @%%q trap;\n ld.global.u32 %%r3,[%%a2];\n"
                           " st.global.u32 [%%a2],%%r3; ret;\n}\n");
    at += (size_t)snprintf(text + at, sizeof text - at, head, "right");
    snprintf(text + at, sizeof text - at,
             " ld.global.u32 %%r3,[%%a2]; ld.global.u32 %%r4,[%%a2+4096]; add.u32 %%r3,%%r3,%%r4;\n"
             " st.global.u32 [%%a2],%%r3; ret;\n}\n");
    open_with("spe+dac", "fermi", (const char *const[]){"dac.pwaq=1024", NULL});
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 1 << 16);
    struct heddle_arg args[] = {{&p, 8}};
    const struct heddle_dim one = {1, 1, 1}, block = {64, 1, 1};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(heddle_launch(h, m, "wrong", one, block, 0, args, 1), HEDDLE_FAULT);
        ck_assert_msg(strstr(heddle_error(h), "trap") && !seen.what[0], "%s %s", heddle_error(h), seen.what);
        ck_assert_msg(heddle_launch(h, m, "right", one, block, 0, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
        check_figures("after a fault");
        ck_assert_double_eq(stat("dac.lines"), 2 * 64); /* each thread's word is in a separate line, for each load */
    }
}
END_TEST

SUITE(mechanisms_dac_each_cycle) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST_LOOP(affine_kernels_at_random, 0, 4);
    TEST_LOOP(a_fault_leaves_no_state, 0, 12);
}
