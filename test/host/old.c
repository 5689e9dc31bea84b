/* Tests PTX modules older than the directive .address_size (PTX 2.3). Their pointers are as wide as the parameters that
 * hold them. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

static struct heddle *h;

static void setup(void) {
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}
static void teardown(void) { heddle_close(h); }

/* Runs `kernel`(data, n) with two CTAs of 64 threads on 100 floats, where float i is i. Afterwards each of the first n
 * floats must be `factor` * i + `more`. */
static void run(struct heddle_module *m, const char *kernel, unsigned pointer_bytes, float factor, float more) {
    enum { N = 100, USED = 90 };
    float x[N];
    uint32_t n = USED;
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    uint64_t p = heddle_alloc(h, sizeof x);
    ck_assert_int_eq(heddle_write(h, p, x, sizeof x), HEDDLE_OK);
    const struct heddle_arg args[] = {{&p, pointer_bytes}, {&n, 4}};
    enum heddle_status s =
        heddle_launch(h, m, kernel, (struct heddle_dim){2, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 2);
    ck_assert_msg(s == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, p, x, sizeof x), HEDDLE_OK);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(x[i], i < USED ? factor * (float)i + more : (float)i);
}

START_TEST(pointers_of_64_bits) { run(heddle_module_file(h, "test/compiled/old.ptx"), "_Z5scalePfi", 8, 2, 0); }
END_TEST

/* The loader derives the width of addresses from the address registers of memory instructions: %d has 64 bits, %r 32
 * bits. Accesses to shared memory do not affect this decision. */
static const struct {
    const char *body;
    int bits;
} widths[] = {
    {"ld.global.u32 %r1, [%d1];", 64},
    {"ld.global.u32 %r1, [%r2];", 32},
    {"ld.shared.u32 %r1, [%r2]; { st.u32 [%d1+4], %r1; }", 64},
    {"atom.global.add.u32 %r1, [%d1], 1;", 64},
    {"{ .reg .u64 x; red.global.add.u32 [x], 1; }", 64},
    {"ld.param.u64 %d1, [p];", 32}, /* no memory instruction uses a register as address */
};
START_TEST(width_of_addresses) {
    static const char head[] = ".version 2.2\n.target sm_20\n";
    char text[400];
    snprintf(text, sizeof text, "%s.entry k(.param .u64 p) { .reg .u32 %%r<4>; .reg .u64 %%d<4>; %s exit; }\n", head,
             widths[_i].body);
    struct heddle_module *m = heddle_module_text(h, "old.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_address_size(m), widths[_i].bits);
}
END_TEST

/* A kernel with 32-bit addresses. Division and square root are in their old forms, without rounding modifiers: i / 0.5
 * + sqrt(4). */
static const char narrow[] = ".version 1.2\n.target sm_10\n.entry k(.param .u32 data, .param .s32 n)\n{\n"
                             ".reg .u16 %h<3>; .reg .u32 %r<9>; .reg .f32 %f<4>; .reg .pred %p;\n"
                             "mov.u16 %h0, %ctaid.x; mov.u16 %h1, %ntid.x; mul.wide.u16 %r0, %h0, %h1;\n"
                             "cvt.u32.u16 %r1, %tid.x; add.u32 %r1, %r1, %r0; ld.param.s32 %r2, [n];\n"
                             "setp.le.s32 %p, %r2, %r1; @%p exit; ld.param.u32 %r3, [data];\n"
                             "shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4; ld.global.f32 %f0, [%r3];\n"
                             "div.f32 %f0, %f0, 0f3F000000; sqrt.f32 %f1, 0f40800000; add.f32 %f0, %f0, %f1;\n"
                             "st.global.f32 [%r3], %f0; exit;\n}\n";
START_TEST(pointers_of_32_bits) { run(heddle_module_text(h, "old.ptx", narrow, strlen(narrow)), "k", 4, 2, 2); }
END_TEST

/* From PTX 1.4 on, the rounding modifier is required, so the same text is refused. */
START_TEST(old_spellings_are_refused_later) {
    char text[sizeof narrow];
    memcpy(text, narrow, sizeof narrow);
    *strstr(text, "1.2") = '2';
    struct heddle_module *m = heddle_module_text(h, "new.ptx", text, strlen(text));
    struct heddle_kernel_info info;
    ck_assert(m == NULL || heddle_kernel_info(h, m, "k", &info) != HEDDLE_OK);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "'div.f32' was removed after PTX 1.3"));
}
END_TEST

SUITE(host_old) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(pointers_of_64_bits);
    TEST_LOOP(width_of_addresses, 0, sizeof widths / sizeof *widths);
    TEST(pointers_of_32_bits);
    TEST(old_spellings_are_refused_later);
}
