/* Tests the extraction of device code from compiled files (host/load/elf_load.c, fatbin.c, ptx_link.c) with the fixture
 * files of test/cuda, which are complete, truncated or corrupted. test/cuda/README.md describes how each fixture was
 * made. */
#include "host/load/elf_load.h"
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

static char *load(const char *name, size_t *len) {
    char path[128];
    snprintf(path, sizeof path, "test/cuda/%s", name);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    char *data = malloc(1 << 20);
    ck_assert_ptr_nonnull(data);
    *len = fread(data, 1, 1 << 20, f);
    fclose(f);
    return data;
}

/* Returns the device code of a fixture file, which must be valid. */
static struct device_code code_of(const char *name, uint32_t target) {
    struct device_code c;
    size_t len;
    char *data = load(name, &len);
    ck_assert_msg(elf_device_code(data, len, target, &c), "%s: %s", name, c.error);
    free(data);
    return c;
}

/* All these files contain the same kernels: saxpy and fill<int>. */
START_TEST(ptx_is_found_in_every_kind_of_file) {
    static const char *const names[] = {"zstd.fatbin", "lz4.fatbin", "stored.fatbin", "saxpy.obj"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct device_code c = code_of(names[i], 75);
        ck_assert_int_eq(c.n, 1);
        ck_assert_uint_eq(c.parts[0].arch, 75);
        ck_assert_uint_eq(strlen(c.parts[0].text), c.parts[0].len);
        ck_assert_msg(strstr(c.parts[0].text, ".target sm_75") && strstr(c.parts[0].text, ".entry _Z5saxpyifPKfPf") &&
                          strstr(c.parts[0].text, ".entry _Z4fillIiEvPT_S0_"),
                      "%s: %.300s", names[i], c.parts[0].text);
        device_code_free(&c);
    }
}
END_TEST

/* zstd.fatbin contains PTX for compute capability 7.5 and 9.0. The loader uses the newest PTX that the GPU supports;
 * for an older GPU it uses the oldest PTX. */
START_TEST(the_best_ptx_is_taken) {
    static const uint32_t target[] = {20, 74, 75, 89, 90, 120}, taken[] = {75, 75, 75, 75, 90, 90};
    for (int i = 0; i < 6; i++) {
        struct device_code c = code_of("zstd.fatbin", target[i]);
        ck_assert_uint_eq(c.parts[0].arch, taken[i]);
        ck_assert_uint_eq(c.entries, 3); /* the third entry of the file is machine code for 7.5, which is not used */
        ck_assert_uint_eq(c.machine, 1);
        device_code_free(&c);
    }
}
END_TEST

static void refuse(const char *name, const char *why) {
    struct device_code c;
    size_t len;
    char *data = load(name, &len);
    ck_assert(!elf_device_code(data, len, 75, &c));
    ck_assert_msg(c.error && strstr(c.error, why), "%s: %s", name, c.error);
    device_code_free(&c);
    free(data);
}

START_TEST(machine_code_alone_is_refused_with_advice) {
    refuse("machine.fatbin", "machine code for sm_75 only, and Heddle runs PTX: compile with '-arch=sm_75'");
    refuse("saxpy.cubin", "machine code (a cubin)");
    refuse("link_time.fatbin", "for optimisation by the linker only, and Heddle runs PTX: compile without '-dlto'");
}
END_TEST

static void launch(struct heddle *h, struct heddle_module *m, const char *kernel, const int *in, int *out, uint32_t n) {
    uint64_t p = heddle_alloc(h, n * sizeof *in);
    ck_assert_uint_ne(p, 0);
    ck_assert_int_eq(heddle_write(h, p, in, n * sizeof *in), HEDDLE_OK);
    struct heddle_arg args[] = {{&p, sizeof p}};
    ck_assert_msg(heddle_launch(h, m, kernel, (struct heddle_dim){1, 1, 1}, (struct heddle_dim){n, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, p, out, n * sizeof *out), HEDDLE_OK);
}

static struct heddle *open_functional(void) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* apply() of part_a.cu calls twice() of part_b.cu and reads the table {10, 20, 30, 40} of part_b.cu: the result is 2 x
 * + table[lane]. */
START_TEST(separately_compiled_parts_are_linked) {
    struct heddle *h = open_functional();
    struct heddle_module *m = heddle_module_file(h, "test/cuda/linked.out");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const char *kernel = heddle_find(h, m, "apply");
    ck_assert_str_eq(kernel, "_Z5applyPi");
    int x[4] = {1, 2, 3, 4};
    launch(h, m, kernel, x, x, 4);
    ck_assert(x[0] == 12 && x[1] == 24 && x[2] == 36 && x[3] == 48);
    heddle_close(h);
}
END_TEST

/* Each of the two linked files has its own static function `step`, and both must be kept. Both files define `weak` as a
 * weak function; the first definition is used in both. Names in comments, strings and braces are no declarations. k
 * computes ((x + 1) * 10 + 100) + 2, where 2 comes from the second file's `step`. */
static const char part_1[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                             "/* .global .u32 other; */ .global .align 4 .u32 step = 1;\n"
                             ".extern .func (.param .u32 r) more(.param .u32 x);\n"
                             ".weak .func (.param .u32 r) w(.param .u32 x) { .reg .u32 %a; ld.param.u32 %a, [x];\n"
                             "  add.u32 %a, %a, 100; st.param.u32 [r], %a; ret; }\n"
                             ".visible .entry k(.param .u64 p) { .reg .u32 %a, %s; .reg .u64 %p; .reg .u32 other;\n"
                             "  ld.param.u64 %p, [p]; ld.global.u32 %a, [%p]; ld.global.u32 %s, [step];\n"
                             "  add.u32 %a, %a, %s; mul.lo.u32 %a, %a, 10;\n"
                             "  { .param .u32 i; .param .u32 o; st.param.u32 [i], %a; call (o), more, (i);\n"
                             "    ld.param.u32 %a, [o]; }\n"
                             "  st.global.u32 [%p], %a; ret; }\n";
static const char part_2[] = "// second .version\n.version 7.8 // newer\n.target sm_60\n.address_size 64\n"
                             ".global .align 4 .u32 step = 2; .global .u32 other = 5;\n"
                             ".weak .func (.param .u32 r) w(.param .u32 x) { .reg .u32 %a; mov.u32 %a, 7;\n"
                             "  st.param.u32 [r], %a; ret; }\n"
                             ".visible .func (.param .u32 r) more(.param .u32 x) { .reg .u32 %a, %s;\n"
                             "  ld.param.u32 %a, [x]; ld.global.u32 %s, [step];\n"
                             "  { .param .u32 i; .param .u32 o; st.param.u32 [i], %a; call (o), w, (i);\n"
                             "    ld.param.u32 %a, [o]; }\n"
                             "  add.u32 %a, %a, %s; st.param.u32 [r], %a; ret; }\n";

static struct ptx_part part(const char *text) { return (struct ptx_part){strdup(text), strlen(text), 50}; }

START_TEST(local_names_of_parts_stay_separate) {
    struct device_code c = {.parts = calloc(2, sizeof(struct ptx_part)), .n = 2, .cap = 2};
    ck_assert_ptr_nonnull(c.parts);
    c.parts[0] = part(part_1);
    c.parts[1] = part(part_2);
    ck_assert(ptx_link(&c, 0));
    ck_assert_int_eq(c.n, 1);
    ck_assert_msg(strncmp(c.parts[0].text, ".version 7.8", 12) == 0, "%.40s", c.parts[0].text);
    struct heddle *h = open_functional();
    struct heddle_module *m = heddle_module_text(h, "linked", c.parts[0].text, c.parts[0].len);
    ck_assert_msg(m != NULL, "%s%s", heddle_error(h), c.parts[0].text);
    int x = 3;
    launch(h, m, "k", &x, &x, 1);
    ck_assert_int_eq(x, (3 + 1) * 10 + 100 + 2);
    heddle_close(h);
    device_code_free(&c);
}
END_TEST

/* One file declares a table of function addresses as bytes, and the other file defines it with its type. The second
 * function of the table computes 5 - 1. */
START_TEST(a_definition_has_the_type) {
    struct device_code c = {.parts = calloc(2, sizeof(struct ptx_part)), .n = 2, .cap = 2};
    ck_assert_ptr_nonnull(c.parts);
    c.parts[0] = part(".version 7.0\n.target sm_50\n.address_size 64\n.extern .global .align 8 .b8 table[16];\n"
                      ".visible .entry k(.param .u64 p) { .reg .u32 %a; .reg .u64 %p, %f;\n"
                      "  ld.param.u64 %p, [p]; ld.global.u32 %a, [%p]; ld.global.u64 %f, [table+8];\n"
                      "  { .param .u32 i; .param .u32 o; st.param.u32 [i], %a;\n"
                      "    q: .callprototype (.param .u32 _) _ (.param .u32 _); call (o), %f, (i), q;\n"
                      "    ld.param.u32 %a, [o]; }\n"
                      "  st.global.u32 [%p], %a; ret; }\n");
    c.parts[1] = part(".version 7.0\n.target sm_50\n.address_size 64\n"
                      ".func (.param .u32 r) up(.param .u32 x) { .reg .u32 %a; ld.param.u32 %a, [x];\n"
                      "  add.u32 %a, %a, 1; st.param.u32 [r], %a; ret; }\n"
                      ".func (.param .u32 r) down(.param .u32 x) { .reg .u32 %a; ld.param.u32 %a, [x];\n"
                      "  sub.u32 %a, %a, 1; st.param.u32 [r], %a; ret; }\n"
                      ".visible .global .align 8 .u64 table[2] = {up, down};\n");
    ck_assert(ptx_link(&c, 0));
    struct heddle *h = open_functional();
    struct heddle_module *m = heddle_module_text(h, "linked", c.parts[0].text, c.parts[0].len);
    ck_assert_msg(m != NULL, "%s%s", heddle_error(h), c.parts[0].text);
    int x = 5;
    launch(h, m, "k", &x, &x, 1);
    ck_assert_int_eq(x, 4);
    heddle_close(h);
    device_code_free(&c);
}
END_TEST

START_TEST(kernels_are_found_by_their_c_names) {
    struct heddle *h = open_functional();
    struct heddle_module *m = heddle_module_file(h, "test/cuda/saxpy.obj");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    static const char *const fill[] = {"_Z4fillIiEvPT_S0_", "fill<int>", "fill", "fill<int>(int*, int)",
                                       "void fill<int>(int*, int)"};
    for (int i = 0; i < 5; i++)
        ck_assert_str_eq(heddle_find(h, m, fill[i]), fill[0]);
    ck_assert_str_eq(heddle_find(h, m, "saxpy(int, float, float const*, float*)"), "_Z5saxpyifPKfPf");
    static const char *const none[] = {"", "sax", "fill<float>", "saxpy(", "fill<", "void", "Z5saxpyifPKfPf"};
    for (int i = 0; i < 7; i++) {
        ck_assert_ptr_null(heddle_find(h, m, none[i]));
        ck_assert_ptr_nonnull(strstr(heddle_error(h), "no kernel is called"));
    }
    static const char two[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                              ".visible .entry _Z1fi() { ret; } .visible .entry _Z1ff() { ret; }\n";
    m = heddle_module_text(h, "two", two, strlen(two));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_ptr_null(heddle_find(h, m, "f"));
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "_Z1fi, f(int)\n    _Z1ff, f(float)"));
    ck_assert_str_eq(heddle_find(h, m, "f(float)"), "_Z1ff");
    heddle_close(h);
}
END_TEST

/* Checks that a file gives either PTX or an error message. Returns true if it gives PTX. */
static bool survives(const char *data, size_t len) {
    struct device_code c;
    char *exact = malloc(len ? len : 1); /* exactly `len` bytes, so that a sanitizer detects a read past the end */
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, data, len);
    bool ok = elf_device_code(exact, len, 75, &c);
    EXPECT(ok ? c.n > 0 : c.error && *c.error, "%zu bytes: %s", len, c.error ? c.error : "neither PTX nor a message");
    device_code_free(&c);
    elf_runtime(exact, len);
    free(exact);
    return ok;
}

static const char *const fixtures[] = {"zstd.fatbin",    "lz4.fatbin",  "stored.fatbin",
                                       "machine.fatbin", "saxpy.cubin", "link_time.fatbin",
                                       "saxpy.obj",      "linked.out",  "parts.a"};
enum { N_FIXTURES = sizeof fixtures / sizeof fixtures[0] };

/* A container that is truncated at any length is invalid. A truncated ELF file has no section table, because the table
 * is at the file's end. */
START_TEST(files_that_are_cut_short_are_refused) {
    size_t len;
    char *data = load(fixtures[_i], &len);
    size_t step = len > 4096 ? 7 : 1;
    for (size_t n = 0; n < len; n += step)
        EXPECT(!survives(data, n), "%s: PTX in the first %zu of %zu bytes", fixtures[_i], n, len);
    free(data);
}
END_TEST

START_TEST(changed_files_never_crash) {
    uint64_t seed = 77 + (uint64_t)_i;
    size_t len;
    char *data = load(fixtures[_i], &len), *copy = malloc(len);
    ck_assert_ptr_nonnull(copy);
    int broken = 0;
    for (int i = 0; i < 1500; i++) {
        memcpy(copy, data, len);
        for (uint32_t k = 1 + test_random_below(&seed, 4); k > 0; k--) {
            /* one third of the changed bytes are at the beginning, where the headers are, and one third are at the
             * end */
            uint32_t where = test_random_below(&seed, 3), most = len < 256 ? (uint32_t)len : 256;
            size_t at = where == 0   ? test_random_below(&seed, most)
                        : where == 1 ? len - 1 - test_random_below(&seed, most)
                                     : test_random_below(&seed, (uint32_t)len);
            copy[at] = (char)(test_random_below(&seed, 4) ? test_random(&seed) : 0xff);
        }
        broken += !survives(copy, len);
    }
    ck_assert_int_gt(broken, 0);
    free(copy);
    free(data);
}
END_TEST

SUITE(host_elf_load) {
    TEST(ptx_is_found_in_every_kind_of_file);
    TEST(the_best_ptx_is_taken);
    TEST(machine_code_alone_is_refused_with_advice);
    TEST(separately_compiled_parts_are_linked);
    TEST(local_names_of_parts_stay_separate);
    TEST(a_definition_has_the_type);
    TEST(kernels_are_found_by_their_c_names);
    TEST_LOOP(files_that_are_cut_short_are_refused, 0, N_FIXTURES);
    TEST_LOOP(changed_files_never_crash, 0, N_FIXTURES);
}
