/* Tests kernels in which a thread broadcasts values through one word of shared memory, and no barrier separates the
 * loads of a value from the store of the next. This is a race, but on a card all warps have loaded the value long
 * before the store. The functional model, which runs a warp for long, must give the card's result. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"

enum { THREADS = 256, ROUNDS = 300 };

/* In round i, thread 0 stores i, and after 10 instructions ~i. Each thread counts the values that it did not find. */
#define TEN                                                                                                            \
    "mad.lo.u32 %s,%s,3,%v; xor.b32 %s,%s,%i; mad.lo.u32 %s,%s,5,%v; xor.b32 %s,%s,%i; mad.lo.u32 %s,%s,7,%v;\n"       \
    "xor.b32 %s,%s,%i; mad.lo.u32 %s,%s,9,%v; xor.b32 %s,%s,%i; mad.lo.u32 %s,%s,11,%v; xor.b32 %s,%s,%i;\n"
static const char text[] =
    ".version 7.0 .target sm_70 .address_size 64\n.shared .u32 box;\n"
    ".visible .entry broadcasts(.param .u64 out, .param .u32 rounds) {\n"
    " .reg .b32 %i, %n, %t, %v, %w, %s, %bad; .reg .b64 %a, %o; .reg .pred %first, %p;\n"
    " ld.param.u64 %a,[out]; ld.param.u32 %n,[rounds]; mov.u32 %t,%tid.x; setp.eq.u32 %first,%t,0;\n"
    " mul.wide.u32 %o,%t,8; add.u64 %a,%a,%o; mov.u32 %i,0; mov.u32 %bad,0; mov.u32 %s,0;\n"
    "L: @%first st.shared.u32 [box],%i; bar.sync 0; ld.shared.u32 %v,[box];\n" TEN
    " not.b32 %w,%i; @%first st.shared.u32 [box],%w; bar.sync 0; ld.shared.u32 %w,[box];\n" TEN
    " setp.ne.u32 %p,%v,%i; @%p add.u32 %bad,%bad,1; not.b32 %w,%w; setp.ne.u32 %p,%w,%i; @%p add.u32 %bad,%bad,1;\n"
    " add.u32 %i,%i,1; setp.lt.u32 %p,%i,%n; @%p bra L;\n"
    " st.global.v2.u32 [%a],{%bad,%s}; ret; }\n";

static uint32_t wrong_values(const struct heddle_options *o) {
    char err[512];
    struct heddle *h = heddle_open(o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "broadcasts.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint32_t got[THREADS][2], rounds = ROUNDS;
    uint64_t out = heddle_alloc(h, sizeof got);
    const struct heddle_arg args[] = {{&out, 8}, {&rounds, 4}};
    ck_assert_msg(heddle_launch(h, m, "broadcasts", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0,
                                args, 2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, out, got, sizeof got);
    heddle_close(h);
    uint32_t bad = 0;
    for (int t = 0; t < THREADS; t++)
        bad += got[t][0];
    return bad;
}

START_TEST(all_warps_find_each_value) {
    static const char *const models[] = {"spe", "its", "dws", "dpe", "large"};
    const bool jit = _i & 1;
    char model[32];
    snprintf(model, sizeof model, "reconv=%s", models[_i / 2]);
    const char *const set[] = {model, jit ? "gpu.jit_after=0" : "gpu.jit=false", NULL};
    const uint32_t bad = wrong_values(&(struct heddle_options){.model = "functional", .set = set});
    ck_assert_msg(bad == 0, "%s, native code %s: %u wrong values", model, jit ? "on" : "off", bad);
}
END_TEST

SUITE(host_broadcasts) { TEST_LOOP(all_warps_find_each_value, 0, 10); }
