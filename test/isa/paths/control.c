/* Tests the driver of reconvergence models (isa/paths/control.c) on single instructions.
 * test/isa/interp/interp_models.c and test/mechanisms/reconv.c test whole programs under all models. */
#include "isa/paths/control.h"
#include "isa/exec/syscall.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

/* Accesses whose order other SMs can observe must be ordered: atomics on device memory, accesses that bypass the L1
 * (L1s are not coherent), and surface stores. Accesses to shared and constant memory, and cached or weak accesses, need
 * no order. A generic address may be global, so such an access must be ordered. */
static const struct {
    const char *opcode;
    bool ordered;
} accesses[] = {
    {"ld.global.u32", false},
    {"ld.global.ca.u32", false},
    {"ld.global.cs.u32", false},
    {"ld.global.lu.u32", false},
    {"ld.global.cg.u32", true},
    {"ld.global.cv.u32", true},
    {"ld.volatile.global.u32", true},
    {"ld.relaxed.gpu.global.u32", true},
    {"ld.acquire.gpu.global.u32", true},
    {"ld.u32", false},
    {"ld.cg.u32", true},
    {"ld.volatile.u32", true},
    {"ld.volatile.shared.u32", false},
    {"ld.shared.u32", false},
    {"ld.local.cg.u32", false},
    {"ld.const.u32", false},
    {"ld.param.u32", false},
    {"st.global.u32", false},
    {"st.global.wb.u32", false},
    {"st.global.cs.u32", false},
    {"st.global.cg.u32", true},
    {"st.global.wt.u32", true},
    {"st.volatile.global.u32", true},
    {"st.release.gpu.global.u32", true},
    {"st.u32", false},
    {"st.cg.u32", true},
    {"st.shared.u32", false},
    {"st.volatile.shared.u32", false},
    {"atom.global.add.u32", true},
    {"atom.add.u32", true},
    {"atom.shared.add.u32", false},
    {"red.global.add.u32", true},
    {"red.shared.add.u32", false},
    {"tex.1d.v4.f32.s32", false},
    {"suld.b.1d.b32.trap", false},
    {"sust.b.1d.b32.trap", true},
    {"sured.b.add.1d.u32.trap", true},
    {"add.u32", false},
    {"exit", false},
};
enum { N_ACCESSES = sizeof accesses / sizeof accesses[0] };

START_TEST(accesses_that_other_sms_see_are_ordered) {
    struct asm_program *a = asm_new();
    opnd_t zero = OPND_ZERO;
    const struct inst *in = asm_op(a, accesses[_i].opcode, OPND_SINK, zero, zero, zero);
    ck_assert_msg(inst_is_ordered(in) == accesses[_i].ordered, "%s", accesses[_i].opcode);
    asm_free(a);
}
END_TEST

/* System calls that print or use the heap must be ordered between SMs. Warp-wide operations need no such order. */
START_TEST(system_calls_are_ordered) {
    static const struct {
        warp_fn *fn;
        bool ordered;
    } calls[] = {{sys_vprintf, true}, {sys_malloc, true}, {sys_free, true}, {NULL, false}};
    struct inst in = {.kind = K_WARP};
    in.fn.warp = calls[_i].fn;
    ck_assert_int_eq(inst_is_ordered(&in), calls[_i].ordered);
}
END_TEST

/* A new warp has no state of an earlier warp, whatever its memory contained before. */
START_TEST(a_warp_starts_without_old_state) {
    struct reconv_cfg cfg;
    struct path_wait held[MAX_PATHS];
    struct warp_control c;
    const struct reconv_warp who = {.warp = 0};
    reconv_cfg_default(&cfg);
    void *model = malloc(reconv_spe.size(&cfg, MAX_WARP_LANES));
    memset(&c, 0xff, sizeof c);
    c.ops = &reconv_spe;
    c.model = model;
    c.held = held;
    control_start(&c, &cfg, &who, 7, 0xff);
    ck_assert_uint_eq(c.waiting | c.released | c.events | c.met | c.n_held, 0);
    ck_assert_uint_eq(c.depth, 1);
    ck_assert_uint_eq(control_may_run(&c), 0xff);
    free(model);
}
END_TEST

SUITE(isa_control) {
    TEST_LOOP(accesses_that_other_sms_see_are_ordered, 0, N_ACCESSES);
    TEST_LOOP(system_calls_are_ordered, 0, 4);
    TEST(a_warp_starts_without_old_state);
}
