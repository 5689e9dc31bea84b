/* Tests the checker of a context with memory that the host and kernels share, and with the option page_bounds. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdlib.h>
#include <string.h>

/* The kernel computes out[0] = *(in + offset). */
static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry k(.param .u64 in, .param .s64 offset, .param .u64 out)\n{\n"
                           ".reg .b64 %d<4>; .reg .b32 %r;\n"
                           "ld.param.u64 %d0, [in]; ld.param.s64 %d1, [offset]; ld.param.u64 %d2, [out];\n"
                           "add.s64 %d0, %d0, %d1; ld.global.u32 %r, [%d0]; st.global.u32 [%d2], %r; ret;\n}\n";

static struct heddle *begin(bool check, bool page_bounds, const char *jit, struct heddle_module **m) {
    const char *set[] = {jit, NULL};
    char err[256];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = "functional", .set = set, .check = check, .page_bounds = page_bounds}, err,
        sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    *m = heddle_module_text(h, "k", text, strlen(text));
    ck_assert_msg(*m != NULL, "%s", heddle_error(h));
    return h;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, uint64_t in, int64_t offset, uint64_t out) {
    struct heddle_arg args[] = {{&in, 8}, {&offset, 8}, {&out, 8}};
    return heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, args, 3);
}

static const char *const jit[] = {"gpu.jit=on", "gpu.jit=off"};

/* A shared buffer has two pages. The host writes the first page, then a launch writes a word of the second page.
 * Allocating and freeing other buffers between these two steps does not change which bytes are initialised. */
START_TEST(a_shared_page_has_content_once_it_is_touched) {
    enum { PAGE = 4096 };
    struct heddle_module *m;
    struct heddle *h = begin(true, false, jit[_i], &m);
    uint64_t out = heddle_alloc(h, 4), p = heddle_alloc_shared(h, 2 * PAGE), q = heddle_alloc_shared(h, PAGE);
    ck_assert(out && p && q);
    memset((void *)(uintptr_t)p, 0, 4);
    ck_assert_int_eq(run(h, m, p, 8, out), HEDDLE_OK);
    ck_assert_int_eq(run(h, m, p, PAGE, out), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "uninitialised read of 4 bytes"));
    ck_assert_int_eq(heddle_free(h, q), HEDDLE_OK);
    uint64_t r = heddle_alloc(h, 64), s = heddle_alloc_shared(h, PAGE);
    ck_assert(r && s);
    ck_assert_int_eq(run(h, m, r, 0, out), HEDDLE_FAULT);
    ck_assert_int_eq(run(h, m, s, 0, out), HEDDLE_FAULT);
    ck_assert_int_eq(run(h, m, out, 0, r + 4), HEDDLE_OK);
    ck_assert_int_eq(run(h, m, r, 4, out), HEDDLE_OK);
    ck_assert_int_eq(run(h, m, r, 0, out), HEDDLE_FAULT);
    heddle_close(h);
}
END_TEST

/* With page_bounds, kernels may access up to 64 KiB before and after the buffer; the host may not. A kernel access just
 * beyond these 64 KiB faults. */
START_TEST(kernels_may_touch_the_pages_around_a_buffer) {
    enum { SLACK = 64 << 10, BYTES = 100 };
    struct heddle_module *m;
    struct heddle *h = begin(_i / 2, true, jit[_i % 2], &m);
    uint64_t in = heddle_alloc(h, BYTES), out = heddle_alloc(h, 4), first, bytes, used;
    uint32_t word = 5;
    ck_assert(in && out);
    ck_assert_int_eq(heddle_clear(h, in, BYTES), HEDDLE_OK);
    heddle_memory(h, NULL, &used);
    ck_assert_uint_eq(used, BYTES + 4);
    static const int64_t open[] = {-4, -SLACK, BYTES, BYTES + SLACK - 4}, closed[] = {-SLACK - 4, BYTES + SLACK};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(heddle_write(h, out, &word, 4), HEDDLE_OK);
        ck_assert_msg(run(h, m, in, open[i], out) == HEDDLE_OK, "%s", heddle_error(h));
        ck_assert_int_eq(heddle_read(h, out, &word, 4), HEDDLE_OK);
        ck_assert_uint_eq(word, 0);
        ck_assert_int_eq(heddle_write(h, in + (uint64_t)open[i], &word, 4), HEDDLE_USAGE);
        ck_assert_int_eq(heddle_clear(h, in + (uint64_t)open[i], 4), HEDDLE_USAGE);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(run(h, m, in, closed[i], out), HEDDLE_FAULT);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "65536 bytes past the end of buffer 1 (100 bytes"));
    ck_assert(heddle_buffer(h, in + 7, &first, &bytes, NULL) && first == in && bytes == BYTES);
    ck_assert(!heddle_buffer(h, in - 4, NULL, NULL, NULL));
    ck_assert_int_eq(heddle_free(h, in - SLACK), HEDDLE_USAGE);
    ck_assert_int_eq(heddle_free(h, in), HEDDLE_OK);
    heddle_memory(h, NULL, &used);
    ck_assert_uint_eq(used, 4);
    heddle_close(h);
}
END_TEST

/* Kernel v reads the word at `at` bytes into a variable of 16 bytes, and kernel s into 16 bytes of shared memory. */
static const char words[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .global .u32 table[4] = {1, 2, 3, 4};\n"
    ".visible .const .u32 fixed[4] = {1, 2, 3, 4};\n"
    ".visible .entry v(.param .s64 at, .param .u64 out)\n{\n"
    ".reg .b64 %d<4>; .reg .b32 %r<2>; ld.param.s64 %d0, [at]; ld.param.u64 %d1, [out]; mov.u64 %d2, table;\n"
    "add.s64 %d2, %d2, %d0; ld.global.u32 %r0, [%d2]; mov.u64 %d3, fixed; add.s64 %d3, %d3, %d0;\n"
    "ld.const.u32 %r1, [%d3]; add.u32 %r0, %r0, %r1; st.global.u32 [%d1], %r0; ret;\n}\n"
    ".visible .entry s(.param .s64 at, .param .u64 out)\n{\n.shared .align 4 .b8 part[16];\n"
    ".reg .b64 %d<4>; .reg .b32 %r; ld.param.s64 %d0, [at]; ld.param.u64 %d1, [out]; mov.u64 %d2, part;\n"
    "add.s64 %d2, %d2, %d0; st.shared.u32 [%d2], 7; ld.shared.u32 %r, [%d2];\n"
    "st.global.u32 [%d1], %r; ret;\n}\n";

static enum heddle_status run_at(struct heddle *h, struct heddle_module *m, const char *kernel, int64_t at,
                                 uint64_t out) {
    struct heddle_arg args[] = {{&at, 8}, {&out, 8}};
    return heddle_launch(h, m, kernel, (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, args, 2);
}

/* With page_bounds, variables have 64 KiB of zeros at each end, and 16 bytes of shared memory are rounded up to 128.
 * The sum of the last words of the two variables is 4 + 4. */
START_TEST(pages_and_units_bound_variables_and_shared_memory) {
    enum { SLACK = 64 << 10 };
    static const struct {
        const char *kernel;
        int64_t at;
        uint32_t word;
        bool inside, in_page;
    } t[] = {{"v", 12, 8, true, true},  {"v", 16, 0, false, true},         {"v", -SLACK, 0, false, true},
             {"s", 12, 7, true, true},  {"v", 12 + SLACK, 0, false, true}, {"v", 16 + SLACK, 0, false, false},
             {"s", 16, 7, false, true}, {"s", 124, 7, false, true},        {"s", 128, 0, false, false},
             {"s", -4, 0, false, false}};
    for (int page = 0; page < 2; page++) {
        struct heddle_module *m;
        struct heddle *h = begin(_i / 2, page, jit[_i % 2], &m);
        uint64_t out = heddle_alloc(h, 4);
        ck_assert((m = heddle_module_text(h, "words", words, strlen(words))) != NULL && out);
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
            uint32_t word = 5;
            bool ok = page ? t[i].in_page : t[i].inside;
            ck_assert_int_eq(run_at(h, m, t[i].kernel, t[i].at, out), ok ? HEDDLE_OK : HEDDLE_FAULT);
            ck_assert(!ok || (heddle_read(h, out, &word, 4) == HEDDLE_OK && word == t[i].word));
        }
        heddle_close(h);
    }
}
END_TEST

/* CTA 1 stores 7 in its shared memory and exits. CTA 0 runs longer, and then loads the word. The load is a
 * fault; with page_bounds, the load returns 7. */
static const char after[] = ".version 8.3\n.target sm_90\n.address_size 64\n"
                            ".visible .entry k(.param .u64 out) .reqnctapercluster 2 {\n"
                            ".reg .b32 %r<4>; .reg .b64 %d; .reg .pred %q; .shared .b32 word; ld.param.u64 %d,[out];\n"
                            "mov.u32 %r0,%cluster_ctarank; mov.u32 %r1,word; setp.eq.u32 %q,%r0,1;\n"
                            "@%q st.shared.u32 [%r1],7; @%q exit; mov.u32 %r2,4000;\n"
                            "L: sub.u32 %r2,%r2,1; setp.ne.u32 %q,%r2,0; @%q bra L;\n"
                            "mapa.shared::cluster.u32 %r1,%r1,1; ld.shared::cluster.u32 %r3,[%r1];\n"
                            "st.global.u32 [%d],%r3; ret; }\n";

START_TEST(a_cta_that_ended_keeps_its_shared_memory_for_its_cluster) {
    const bool page = _i / 2;
    char err[256];
    uint32_t word = 0;
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = _i % 2 ? "spe" : "functional", .page_bounds = page}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "after", after, strlen(after));
    const uint64_t out = heddle_alloc(h, 4);
    ck_assert(m && out);
    const struct heddle_arg arg = {&out, 8};
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){2, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, &arg, 1),
                     page ? HEDDLE_OK : HEDDLE_FAULT);
    ck_assert(page || strstr(heddle_error(h), "use after free: read of 4 bytes") != NULL);
    ck_assert(!page || (heddle_read(h, out, &word, 4) == HEDDLE_OK && word == 7));
    heddle_close(h);
}
END_TEST

/* set() stores 7 in a .const variable at its address; get() loads the variable by its name. On GPUs such a store
 * succeeds, and the next launch loads 7. The checker reports the store. */
static const char constants[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .const .b32 c = 5;\n"
                                ".visible .entry set(.param .u64 at, .param .u64 out)\n{\n"
                                ".reg .b64 %d; ld.param.u64 %d, [at]; st.global.u32 [%d], 7; ret;\n}\n"
                                ".visible .entry get(.param .u64 at, .param .u64 out)\n{\n"
                                ".reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [out];\n"
                                "ld.const.u32 %r, [c]; st.global.u32 [%d], %r; ret;\n}\n";

START_TEST(a_store_to_a_constant_variable_is_a_mistake_only) {
    const bool check = _i / 2;
    struct heddle_module *m;
    struct heddle *h = begin(check, false, jit[_i % 2], &m);
    uint64_t out = heddle_alloc(h, 4), at;
    uint32_t word = 0;
    ck_assert((m = heddle_module_text(h, "constants", constants, strlen(constants))) != NULL && out);
    at = heddle_symbol(h, m, "c", NULL);
    ck_assert(at);
    ck_assert_int_eq(run_at(h, m, "set", (int64_t)at, out), check ? HEDDLE_FAULT : HEDDLE_OK);
    ck_assert(!check || strstr(heddle_error(h), "read-only memory: write of 4 bytes") != NULL);
    ck_assert_int_eq(run_at(h, m, "get", (int64_t)at, out), HEDDLE_OK);
    ck_assert_int_eq(heddle_read(h, out, &word, 4), HEDDLE_OK);
    ck_assert_uint_eq(word, check ? 5 : 7);
    heddle_close(h);
}
END_TEST

SUITE(host_checked) {
    TEST_LOOP(a_shared_page_has_content_once_it_is_touched, 0, 2);
    TEST_LOOP(kernels_may_touch_the_pages_around_a_buffer, 0, 4);
    TEST_LOOP(pages_and_units_bound_variables_and_shared_memory, 0, 4);
    TEST_LOOP(a_cta_that_ended_keeps_its_shared_memory_for_its_cluster, 0, 4);
    TEST_LOOP(a_store_to_a_constant_variable_is_a_mistake_only, 0, 4);
}
