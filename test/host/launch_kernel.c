/* Tests the library: contexts, modules, memory, launches and statistics (host/context.c, module.c, launch.c,
 * results.c). */
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

static struct heddle *h;

static void setup(void) {
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}

static void teardown(void) { heddle_close(h); }

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"

static struct heddle_module *module(const char *text) { return heddle_module_text(h, "t.ptx", text, strlen(text)); }

static struct heddle_module *good_module(const char *text) {
    struct heddle_module *m = module(text);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

static const struct heddle_dim one = {1, 1, 1};

/* The kernel stores a + b to *p. */
static const char add_kernel[] = HEAD ".visible .entry add(.param .u64 p, .param .u32 a, .param .u32 b)\n{\n"
                                      ".reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
                                      "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[a]; ld.param.u32 %r2,[b];\n"
                                      "add.s32 %r3,%r1,%r2;\nst.global.u32 [%rd1],%r3;\nret;\n}\n";

static enum heddle_status add(struct heddle_module *m, uint64_t p, uint32_t a, uint32_t b) {
    const struct heddle_arg args[] = {{&p, 8}, {&a, 4}, {&b, 4}};
    return heddle_launch(h, m, "add", one, one, 0, args, 3);
}

START_TEST(a_launch_computes_and_is_counted) {
    struct heddle_module *m = good_module(add_kernel);
    uint64_t p = heddle_alloc(h, 4);
    uint32_t sum = 0;
    ck_assert_int_eq(add(m, p, 40, 2), HEDDLE_OK);
    ck_assert_int_eq(add(m, p, 40, 3), HEDDLE_OK);
    ck_assert_int_eq(heddle_read(h, p, &sum, sizeof sum), HEDDLE_OK);
    ck_assert_uint_eq(sum, 43);
    ck_assert_int_eq(heddle_launches(h), 2);
    /* one warp of one lane executes 6 instructions: three loads, add, store, ret */
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.warp_instructions"), 6);
    ck_assert_double_eq(heddle_stat(h, -1, "gpu.warp_instructions"), 12);
    ck_assert_double_eq(heddle_stat(h, -1, "gpu.thread_instructions"), 12);
    ck_assert_double_eq_tol(heddle_stat(h, -1, "gpu.lane_utilization"), 1.0 / 32, 1e-12);
    ck_assert(isnan(heddle_stat(h, -1, "no.such")));
    ck_assert(isnan(heddle_stat(h, 2, "gpu.cycles")));
}
END_TEST

START_TEST(arguments_must_be_the_kernels) {
    struct heddle_module *m = good_module(add_kernel);
    uint64_t p = heddle_alloc(h, 4);
    const struct heddle_arg args[] = {{&p, 8}, {&p, 8}, {&p, 4}};
    ck_assert_int_eq(heddle_launch(h, m, "add", one, one, 0, args, 2), HEDDLE_USAGE);
    ck_assert_str_eq(heddle_error(h), "kernel 'add' has 3 parameters, and 2 arguments were given\n");
    ck_assert_int_eq(heddle_launch(h, m, "add", one, one, 0, args, 3), HEDDLE_USAGE);
    ck_assert_str_eq(heddle_error(h), "kernel 'add': parameter 2 ('a', .u32) takes 4 bytes, and the argument has 8\n");
    ck_assert_int_eq(heddle_launch(h, m, "sub", one, one, 0, args, 3), HEDDLE_USAGE);
    ck_assert_str_eq(heddle_error(h), "t.ptx: no kernel is called 'sub'; it has add\n");
    ck_assert_int_eq(heddle_launches(h), 0);
}
END_TEST

START_TEST(a_launch_beyond_the_limits_is_refused) {
    struct heddle_module *m = good_module(add_kernel);
    uint64_t p = heddle_alloc(h, 4);
    uint32_t v = 0;
    const struct heddle_arg args[] = {{&p, 8}, {&v, 4}, {&v, 4}};
    ck_assert_int_eq(heddle_launch(h, m, "add", (struct heddle_dim){0, 1, 1}, one, 0, args, 3), HEDDLE_USAGE);
    ck_assert_int_eq(heddle_launch(h, m, "add", one, (struct heddle_dim){1025, 1, 1}, 0, args, 3), HEDDLE_USAGE);
    ck_assert_int_eq(heddle_launch(h, m, "add", one, one, 1u << 30, args, 3), HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "add"));
}
END_TEST

START_TEST(parameters_are_described) {
    struct heddle_module *m = good_module(add_kernel);
    struct heddle_param p[3];
    ck_assert_int_eq(heddle_params(h, m, "add", p, 3), 3);
    ck_assert_str_eq(p[0].type, ".u64");
    ck_assert_str_eq(p[1].name, "a");
    ck_assert_uint_eq(p[2].offset, 12);
    /* with room for 0 parameters, heddle_params() returns only the number of parameters */
    ck_assert_int_eq(heddle_params(h, m, "add", p, 0), 3);
    ck_assert_int_eq(heddle_params(h, m, "none", p, 3), -1);
    ck_assert_int_eq(heddle_address_size(m), 64);
    ck_assert_str_eq(heddle_kernel(m, 0), "add");
    ck_assert_ptr_null(heddle_kernel(m, 1));
}
END_TEST

START_TEST(variables_have_addresses_and_contents) {
    struct heddle_module *m = good_module(HEAD ".global .align 4 .u32 g[3] = {1, 2, 3};\n"
                                               ".const .u32 c = 9;\n"
                                               ".global .u64 at = g+4;\n"
                                               ".visible .entry k()\n{\nret;\n}\n");
    uint64_t bytes = 0, g = heddle_symbol(h, m, "g", &bytes), at = heddle_symbol(h, m, "at", NULL);
    uint64_t c = heddle_symbol(h, m, "c", NULL), pointer = 0;
    uint32_t v[3] = {0};
    ck_assert_uint_eq(bytes, 12);
    ck_assert_int_eq(heddle_read(h, g, v, sizeof v), HEDDLE_OK);
    ck_assert_uint_eq(v[2], 3);
    ck_assert_int_eq(heddle_read(h, c, v, 4), HEDDLE_OK);
    ck_assert_uint_eq(v[0], 9);
    ck_assert_int_eq(heddle_read(h, at, &pointer, sizeof pointer), HEDDLE_OK);
    /* the initialiser contains the address of g + 4, which is known only after g has got its memory */
    ck_assert_uint_eq(pointer, g + 4);
    ck_assert_uint_eq(heddle_symbol(h, m, "none", NULL), 0);
    ck_assert_str_eq(heddle_error(h), "t.ptx: no variable is called 'none'\n");
}
END_TEST

START_TEST(mistakes_in_the_text_are_told_with_their_place) {
    ck_assert_ptr_null(module(HEAD ".visible .entry k()\n{\nbogus;\n}\n.visible .entry j( {\n"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "t.ptx:"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "error:"));
    ck_assert_int_eq(heddle_status(h), HEDDLE_USAGE);
    ck_assert_ptr_null(module(""));
}
END_TEST

START_TEST(a_bad_kernel_does_not_spoil_a_good_one) {
    struct heddle_module *m =
        good_module(HEAD ".visible .entry bad()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %nowhere;\nret;\n}\n"
                         ".visible .entry good()\n{\nret;\n}\n");
    struct heddle_kernel_info info;
    for (int i = 0; i < 2; i++) { /* the second call must give the same result */
        ck_assert_int_eq(heddle_kernel_info(h, m, "bad", &info), HEDDLE_USAGE);
        ck_assert_ptr_nonnull(strstr(heddle_error(h), "%nowhere"));
    }
    ck_assert_int_eq(heddle_kernel_info(h, m, "good", &info), HEDDLE_OK);
    ck_assert_uint_eq(info.instructions, 1);
    ck_assert_int_eq(heddle_launch(h, m, "good", one, one, 0, NULL, 0), HEDDLE_OK);
}
END_TEST

START_TEST(memory_is_checked) {
    uint64_t p = heddle_alloc(h, 16);
    uint32_t v[4] = {1, 2, 3, 4}, w[4] = {0};
    ck_assert_uint_ne(p, 0);
    ck_assert_int_eq(heddle_read(h, p, w, 16), HEDDLE_OK);
    ck_assert_uint_eq(w[3], 0); /* zeroed */
    ck_assert_int_eq(heddle_write(h, p, v, 16), HEDDLE_OK);
    ck_assert_int_eq(heddle_read(h, p + 4, w, 12), HEDDLE_OK);
    ck_assert_uint_eq(w[2], 4);
    ck_assert_int_eq(heddle_read(h, p + 4, w, 16), HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "cannot read 16 bytes"));
    ck_assert_int_eq(heddle_free(h, p + 4), HEDDLE_USAGE);
    ck_assert_int_eq(heddle_free(h, p), HEDDLE_OK);
    ck_assert_int_eq(heddle_free(h, p), HEDDLE_USAGE);
    ck_assert_int_eq(heddle_write(h, p, v, 4), HEDDLE_USAGE);
    ck_assert_uint_eq(heddle_alloc(h, 0), 0);
    ck_assert_uint_eq(heddle_alloc(h, UINT64_MAX), 0);
}
END_TEST

START_TEST(a_fault_is_reported_and_the_context_lives_on) {
    struct heddle_module *m = good_module(add_kernel);
    uint64_t p = heddle_alloc(h, 4);
    ck_assert_int_eq(add(m, p + 4, 1, 2), HEDDLE_FAULT);
    ck_assert_int_eq(heddle_status(h), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "add"));
    ck_assert_int_eq(heddle_launches(h), 1); /* the statistics include the instructions before the fault */
    ck_assert_str_eq(heddle_incomplete(h, 0), "fault");
    ck_assert_int_eq(add(m, p, 1, 2), HEDDLE_OK);
    ck_assert_ptr_null(heddle_incomplete(h, 1));
}
END_TEST

START_TEST(a_context_that_cannot_be_opened_says_why) {
    const struct {
        struct heddle_options o;
        const char *part;
    } cases[] = {{{.model = "xyz"}, "no model is called 'xyz'"},
                 {{.model = "dpe+dax"}, "unknown extension 'dax'"},
                 {{.config = "no-such-machine"}, "no-such-machine"},
                 {{.set = (const char *const[]){"sm.warps=0", NULL}}, "sm.warps"},
                 {{.set = (const char *const[]){"reconv=dpe", NULL}}, "functional"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char err[512] = "";
        ck_assert_ptr_null(heddle_open(&cases[i].o, err, sizeof err));
        ck_assert_msg(strstr(err, cases[i].part) != NULL, "'%s' is not in '%s'", cases[i].part, err);
    }
}
END_TEST

START_TEST(listings_show_the_program) {
    struct heddle_module *m = good_module(add_kernel);
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    ck_assert_int_eq(heddle_listing(h, m, "add", NULL, f), HEDDLE_OK);
    ck_assert_int_eq(heddle_listing(h, m, "add", "no-pass", f), HEDDLE_USAGE);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "B0:"));
    ck_assert_ptr_nonnull(strstr(text, "st.global.u32"));
    ck_assert_ptr_nonnull(strstr(text, "line 9"));
    free(text);
}
END_TEST

/* Every message about a launch names the kernel once, at its beginning. */
START_TEST(the_kernel_is_named_once) {
    static const struct {
        const char *directive, *said;
        uint32_t block, shared;
    } rows[] = {
        {".reqntid 64", "kernel 'k': a block of 32 x 1 x 1 threads, but its .reqntid requires 64 x 1 x 1", 32, 0},
        {".maxntid 64", "kernel 'k': a block of 65 threads, but its .maxntid allows 64 x 1 x 1", 65, 0},
        {".reqnctapercluster 2", "kernel 'k': a grid of 1 x 1 x 1 CTAs, which clusters of 2 x 1 x 1 CTAs do", 32, 0},
        {"", "kernel 'k': a block of 1025 x 1 x 1 threads: each at least 1", 1025, 0},
        {"", "kernel 'k': it needs 300000 bytes of shared memory (300000 of them dynamic); the SM has ", 32, 300000},
        {"", "kernel 'k' has 0 parameters, and 1 argument was given", 0, 0},
    };
    const uint32_t value = 0;
    const struct heddle_arg arg = {&value, sizeof value};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD ".visible .entry k() %s { ret; }\n", rows[i].directive);
        struct heddle_module *m = good_module(text);
        struct heddle_dim block = {rows[i].block ? rows[i].block : 1, 1, 1};
        ck_assert_int_eq(heddle_launch(h, m, "k", one, block, rows[i].shared, &arg, rows[i].block ? 0 : 1),
                         HEDDLE_USAGE);
        const char *why = heddle_error(h);
        ck_assert_msg(strncmp(why, rows[i].said, strlen(rows[i].said)) == 0, "%zu: %s", i, why);
        ck_assert_msg(occurrences(why, "kernel") == 1, "%zu: %s", i, why);
    }
}
END_TEST

/* A write outside of shared memory: the message names the missing dynamic memory if the kernel uses dynamic memory and
 * the launch has none. Kernel d writes s[at], whose 4 bytes end at at + 4. Kernel t writes static memory of 4 bytes. */
START_TEST(missing_dynamic_shared_memory_is_named) {
    static const char text[] = HEAD ".extern .shared .align 4 .b8 s[];\n"
                                    ".visible .entry d(.param .u32 at) { .reg .b32 %r<3>; ld.param.u32 %r1,[at];\n"
                                    "mov.u32 %r2,s; add.s32 %r2,%r2,%r1; st.shared.u32 [%r2],%r1; ret; }\n"
                                    ".visible .entry t(.param .u32 at) { .reg .b32 %r<3>; .shared .b32 w;\n"
                                    "ld.param.u32 %r1,[at];\n"
                                    "mov.u32 %r2,w; add.s32 %r2,%r2,%r1; st.shared.u32 [%r2],%r1; ret; }\n";
    static const struct {
        const char *kernel;
        uint32_t at, dynamic;
        bool fault, named;
    } rows[] = {{"d", 0, 0, true, true}, {"d", 0, 4, false, false}, {"d", 4, 4, true, false}, {"t", 4, 0, true, false}};
    struct heddle_module *m = good_module(text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct heddle_arg arg = {&rows[i].at, 4};
        ck_assert_int_eq(heddle_launch(h, m, rows[i].kernel, one, one, rows[i].dynamic, &arg, 1),
                         rows[i].fault ? HEDDLE_FAULT : HEDDLE_OK);
        const bool named = rows[i].fault && strstr(heddle_error(h), "the kernel uses dynamic shared memory, but the "
                                                                    "launch does not request any\n");
        ck_assert_msg(named == rows[i].named, "%zu: %s", i, heddle_error(h));
    }
}
END_TEST

SUITE(host_launch) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_launch_computes_and_is_counted);
    TEST(arguments_must_be_the_kernels);
    TEST(a_launch_beyond_the_limits_is_refused);
    TEST(parameters_are_described);
    TEST(variables_have_addresses_and_contents);
    TEST(mistakes_in_the_text_are_told_with_their_place);
    TEST(a_bad_kernel_does_not_spoil_a_good_one);
    TEST(memory_is_checked);
    TEST(a_fault_is_reported_and_the_context_lives_on);
    TEST(a_context_that_cannot_be_opened_says_why);
    TEST(listings_show_the_program);
    TEST(the_kernel_is_named_once);
    TEST(missing_dynamic_shared_memory_is_named);
}
