/* Tests that every function of the library refuses invalid handles with a message, without dereferencing them. */
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static const char kernel[] = ".version 6.0\n.target sm_50\n.address_size 64\n.global .u32 g = 5;\n"
                             ".visible .entry k(.param .u64 p) { .reg .u64 %d; .reg .u32 %r;\n"
                             "ld.param.u64 %d,[p]; mov.u32 %r,7; st.global.u32 [%d],%r; ret; }\n"
                             ".visible .entry spin(.param .u64 p) { .reg .u32 %r;\n"
                             "mov.u32 %r,0; L: add.u32 %r,%r,1; bra L; }\n";

static struct heddle *opened(const char *model, uint32_t threads) {
    char err[256] = "";
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

static struct heddle_module *loaded(struct heddle *h) {
    struct heddle_module *m = heddle_module_text(h, "k.ptx", kernel, sizeof kernel - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

static const struct heddle_dim one = {1, 1, 1};

/* Passes `h` as context to every function that has a context as argument. Returns the number of functions that accepted
 * it. */
static int taken_by_context(struct heddle *h, struct heddle_module *m, FILE *out) {
    uint64_t zero = 0;
    struct heddle_param params[2];
    struct heddle_kernel_info info;
    struct heddle_texture t = {.width = 1};
    struct heddle_sampler s = {.linear = false};
    struct heddle_arg arg = {&zero, sizeof zero};
    char byte = 0;
    int taken = 0;
    taken += heddle_status(h) != HEDDLE_USAGE;
    taken += heddle_module_text(h, "k.ptx", kernel, sizeof kernel - 1) != NULL;
    taken += heddle_module_file(h, "kernels/vecadd.ptx") != NULL;
    taken += heddle_params(h, m, "k", params, 2) != -1;
    taken += heddle_kernel_info(h, m, "k", &info) != HEDDLE_USAGE;
    taken += heddle_listing(h, m, "k", NULL, out) != HEDDLE_USAGE;
    taken += heddle_alloc(h, 16) != 0;
    taken += heddle_map(h, params, sizeof params) != HEDDLE_USAGE;
    taken += heddle_map_elsewhere(h, params, sizeof params) != 0;
    taken += heddle_free(h, 0x10000000) != HEDDLE_USAGE;
    taken += heddle_write(h, 0x10000000, &byte, 1) != HEDDLE_USAGE;
    taken += heddle_clear(h, 0x10000000, 1) != HEDDLE_USAGE;
    taken += heddle_read(h, 0x10000000, &byte, 1) != HEDDLE_USAGE;
    taken += heddle_symbol(h, m, "g", NULL) != 0;
    taken += heddle_bind_texture(h, m, "t", &t) != HEDDLE_USAGE;
    taken += heddle_bind_sampler(h, m, "s", &s) != HEDDLE_USAGE;
    taken += heddle_texture_object(h, &t) != 0;
    taken += heddle_surface_object(h, &t) != 0;
    taken += heddle_sampler_object(h, &s) != 0;
    taken += heddle_launch(h, m, "k", one, one, 0, &arg, 1) != HEDDLE_USAGE;
    taken += !isnan(heddle_stat(h, -1, "gpu.warp_instructions"));
    taken += heddle_launches(h) != 0;
    taken += heddle_incomplete(h, -1) != NULL;
    taken += heddle_write_json(h, out, 0, NULL, -1) != HEDDLE_USAGE;
    taken += heddle_record_paths(h, 0) != HEDDLE_USAGE;
    taken += heddle_print_paths(h, out, NULL) != HEDDLE_USAGE;
    taken += heddle_print_profile(h, out) != HEDDLE_USAGE;
    heddle_print_stats(h, out);
    heddle_stop(h);
    heddle_close(h);
    return taken;
}

START_TEST(contexts_that_are_none_are_refused) {
    FILE *out = tmpfile();
    struct heddle *good = opened("functional", 1), *closed = opened("spe", 1);
    struct heddle_module *m = loaded(good);
    heddle_close(closed);
    /* invalid contexts: NULL, a closed context, a module, memory of this test, an address without memory */
    static const char block[4096] __attribute__((aligned(64)));
    struct heddle *const bad[] = {NULL, closed, (struct heddle *)(void *)m, (struct heddle *)(uintptr_t)block,
                                  (struct heddle *)(uintptr_t)64};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(taken_by_context(bad[i], m, out), 0);
        ck_assert_str_eq(heddle_error(bad[i]),
                         i ? "the context is not open: it was closed, or heddle_open() never gave it\n"
                           : "the context is NULL\n");
    }
    ck_assert_int_eq(ftell(out), 0); /* nothing was printed */
    ck_assert_str_eq(heddle_kernel(m, 0), "k");
    heddle_close(good);
    heddle_close(good);
    fclose(out);
}
END_TEST

/* Passes `m` to every function that has a module as argument, with the valid context `h`. All functions must refuse the
 * module. */
static void refused_module(struct heddle *h, struct heddle_module *m, const char *why) {
    uint64_t zero = 0;
    struct heddle_param params[2];
    struct heddle_kernel_info info;
    struct heddle_texture t = {.width = 1};
    struct heddle_sampler s = {.linear = false};
    struct heddle_arg arg = {&zero, sizeof zero};
    for (int f = 0; f < 7; f++) {
        bool refused = false;
        ck_assert_int_ne(heddle_alloc(h, 16), 0); /* clears the message */
        ck_assert_str_eq(heddle_error(h), "");
        switch (f) {
        case 0:
            refused = heddle_params(h, m, "k", params, 2) == -1;
            break;
        case 1:
            refused = heddle_kernel_info(h, m, "k", &info) == HEDDLE_USAGE;
            break;
        case 2:
            refused = heddle_listing(h, m, "k", NULL, stdout) == HEDDLE_USAGE;
            break;
        case 3:
            refused = heddle_symbol(h, m, "g", NULL) == 0;
            break;
        case 4:
            refused = heddle_bind_texture(h, m, "t", &t) == HEDDLE_USAGE;
            break;
        case 5:
            refused = heddle_bind_sampler(h, m, "s", &s) == HEDDLE_USAGE;
            break;
        case 6:
            refused = heddle_launch(h, m, "k", one, one, 0, &arg, 1) == HEDDLE_USAGE;
            break;
        }
        ck_assert_msg(refused, "function %d takes a module that %s", f, why);
        ck_assert_msg(strstr(heddle_error(h), why) != NULL, "function %d: %s", f, heddle_error(h));
        ck_assert_int_eq(heddle_status(h), HEDDLE_USAGE);
    }
}

START_TEST(modules_that_are_none_are_refused) {
    struct heddle *h = opened("functional", 1), *other = opened("functional", 1), *gone = opened("functional", 1);
    struct heddle_module *own = loaded(h), *foreign = loaded(other), *freed = loaded(gone);
    heddle_close(gone);
    refused_module(h, NULL, "the module is NULL");
    refused_module(h, foreign, "another context's");
    refused_module(h, freed, "freed with its context");
    refused_module(h, (struct heddle_module *)(void *)h, "not one that was loaded");
    ck_assert_ptr_null(heddle_kernel(NULL, 0));
    ck_assert_ptr_null(heddle_kernel(freed, 0));
    ck_assert_ptr_null(heddle_kernel(own, -1));
    ck_assert_ptr_null(heddle_kernel(own, 2));
    ck_assert_int_eq(heddle_address_size(NULL), 0);
    ck_assert_int_eq(heddle_address_size(freed), 0);
    ck_assert_int_eq(heddle_address_size(own), 64);
    heddle_close(h);
    heddle_close(other);
}
END_TEST

START_TEST(other_pointers_may_not_be_null) {
    struct heddle *h = opened("functional", 1);
    struct heddle_module *m = loaded(h);
    uint64_t p = heddle_alloc(h, 16);
    struct heddle_kernel_info info;
    struct heddle_param params[2];
    struct heddle_arg none = {NULL, 8};
#define REFUSED(call, part)                                                                                            \
    do {                                                                                                               \
        ck_assert(call);                                                                                               \
        ck_assert_msg(strstr(heddle_error(h), part) != NULL, "%s: '%s'", #call, heddle_error(h));                      \
        ck_assert_int_eq(heddle_status(h), HEDDLE_USAGE);                                                              \
    } while (0)
    REFUSED(heddle_module_text(h, NULL, kernel, 3) == NULL, "name is NULL");
    REFUSED(heddle_module_text(h, "k", NULL, 3) == NULL, "text is NULL");
    REFUSED(heddle_module_file(h, NULL) == NULL, "name is NULL");
    REFUSED(heddle_params(h, m, NULL, params, 2) == -1, "name is NULL");
    REFUSED(heddle_params(h, m, "k", NULL, 2) == -1, "list is NULL");
    REFUSED(heddle_kernel_info(h, m, NULL, &info), "name is NULL");
    REFUSED(heddle_kernel_info(h, m, "k", NULL), "is NULL");
    REFUSED(heddle_listing(h, m, NULL, NULL, stdout), "name is NULL");
    REFUSED(heddle_listing(h, m, "k", NULL, NULL), "stream is NULL");
    REFUSED(heddle_write(h, p, NULL, 4), "is NULL");
    REFUSED(heddle_read(h, p, NULL, 4), "is NULL");
    REFUSED(heddle_map(h, NULL, 4), "memory to map is NULL");
    REFUSED(heddle_map_elsewhere(h, NULL, 4) == 0, "memory to map is NULL");
    REFUSED(heddle_symbol(h, m, NULL, NULL) == 0, "name is NULL");
    REFUSED(heddle_bind_texture(h, m, NULL, NULL), "name is NULL");
    REFUSED(heddle_bind_texture(h, m, "t", NULL), "texture is NULL");
    REFUSED(heddle_bind_sampler(h, m, NULL, NULL), "name is NULL");
    REFUSED(heddle_bind_sampler(h, m, "s", NULL), "sampler is NULL");
    REFUSED(heddle_texture_object(h, NULL) == 0, "texture is NULL");
    REFUSED(heddle_surface_object(h, NULL) == 0, "surface is NULL");
    REFUSED(heddle_sampler_object(h, NULL) == 0, "sampler is NULL");
    REFUSED(heddle_launch(h, m, NULL, one, one, 0, NULL, 0), "name is NULL");
    REFUSED(heddle_launch(h, m, "k", one, one, 0, NULL, 1), "arguments is NULL");
    REFUSED(heddle_launch(h, m, "k", one, one, 0, &none, 1), "argument 1 has no value");
    REFUSED(heddle_launch(h, m, "k", one, one, 0, NULL, 0), "1 parameter, and");
    REFUSED(heddle_launch(h, m, "k", one, one, 0, NULL, -1), "1 parameter, and");
    REFUSED(heddle_write_json(h, NULL, 0, NULL, -1), "stream is NULL");
    REFUSED(heddle_write_json(h, stdout, 1, NULL, -1), "command is NULL");
    REFUSED(heddle_print_profile(h, NULL), "stream is NULL");
    ck_assert(isnan(heddle_stat(h, -1, NULL)));
    heddle_print_stats(h, NULL);
    heddle_close(h);
    struct heddle *d = heddle_open(NULL, NULL, 0); /* all defaults */
    ck_assert_ptr_nonnull(d);
    heddle_close(d);
    ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = "nothing"}, NULL, 100));
}
END_TEST

START_TEST(sizes_and_places_have_bounds) {
    struct heddle *h = opened("functional", 1);
    uint64_t p = heddle_alloc(h, 16);
    unsigned char b[16] = {0};
    REFUSED(heddle_alloc(h, 0) == 0, "0 bytes");
    REFUSED(heddle_map_elsewhere(h, b, 0) == 0, "nothing to map");
    static const uint64_t huge[] = {17ull << 30, 1ull << 47, UINT64_MAX - 600, UINT64_MAX - 63, UINT64_MAX};
    for (int i = 0; i < 5; i++)
        REFUSED(heddle_alloc(h, huge[i]) == 0 && heddle_map_elsewhere(h, b, huge[i]) == 0, "no room");
    static const uint64_t bytes[] = {17, 1ull << 40, UINT64_MAX - 8, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        REFUSED(heddle_write(h, p, b, bytes[i]), "cannot write");
        REFUSED(heddle_read(h, p, b, bytes[i]), "cannot read");
        REFUSED(heddle_clear(h, p, bytes[i]), "cannot clear");
        REFUSED(heddle_write(h, p + 16, b, bytes[i]), "cannot write");
    }
    REFUSED(heddle_write(h, UINT64_MAX, b, 2), "cannot write");
    REFUSED(heddle_free(h, p + 8), "not the start of a buffer");
    ck_assert_int_eq(heddle_write(h, p, NULL, 0), HEDDLE_OK);
    ck_assert_int_eq(heddle_free(h, p), HEDDLE_OK);
    REFUSED(heddle_free(h, p), "not the start of a buffer"); /* freed already */
    REFUSED(heddle_write(h, p, b, 1), "has been freed");
    /* a memory limit that is larger than the address space */
    struct heddle *wide =
        heddle_open(&(struct heddle_options){.model = "functional", .memory_limit = UINT64_MAX}, NULL, 0);
    for (int i = 1; i < 5; i++)
        ck_assert_uint_eq(heddle_alloc(wide, huge[i]), 0);
    heddle_close(wide);
    struct heddle_texture t = {.width = UINT32_MAX, .height = UINT32_MAX};
    REFUSED(heddle_texture_object(h, &t) == 0, "2^27");
    heddle_close(h);
}
END_TEST

START_TEST(a_success_clears_the_failure_before_it) {
    struct heddle *h = opened("functional", 1);
    ck_assert_str_eq(heddle_error(h), "");
    REFUSED(heddle_alloc(h, 0) == 0, "0 bytes");
    REFUSED(heddle_status(h) == HEDDLE_USAGE, "0 bytes"); /* asking changes nothing */
    ck_assert_int_eq(heddle_launches(h), 0);
    REFUSED(heddle_status(h) == HEDDLE_USAGE, "0 bytes");
    ck_assert_int_ne(heddle_alloc(h, 4), 0);
    ck_assert_int_eq(heddle_status(h), HEDDLE_OK);
    ck_assert_str_eq(heddle_error(h), "");
    heddle_close(h);
}
END_TEST

START_TEST(contexts_by_the_hundred_are_told_apart) {
    enum { N = 200 }; /* more handles than one allocation block of the handle table holds */
    static struct heddle *h[N];
    static struct heddle_module *m[N];
    for (int i = 0; i < N; i++)
        m[i] = loaded(h[i] = opened("functional", 1));
    for (int i = 0; i < N; i += 2)
        heddle_close(h[i]);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(heddle_alloc(h[i], 4) != 0, i & 1);
        ck_assert_int_eq(heddle_address_size(m[i]), i & 1 ? 64 : 0);
    }
    for (int i = 1; i < N; i += 2)
        heddle_close(h[i]);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(heddle_alloc(h[i], 4), 0);
}
END_TEST

START_TEST(statistics_have_names) {
    struct heddle *h = opened("functional", 1);
    const char *unit = NULL, *meaning = NULL;
    int n = 0;
    for (const char *name; (name = heddle_stat_name(n, &unit, &meaning)); n++) {
        ck_assert_str_ne(unit, "");
        ck_assert_str_ne(meaning, "");
        ck_assert_double_eq(heddle_stat(h, -1, name), 0); /* not NAN: nothing ran */
    }
    ck_assert_int_gt(n, 100);
    ck_assert_str_eq(heddle_stat_name(0, NULL, NULL), "gpu.cycles");
    ck_assert_ptr_null(heddle_stat_name(-1, &unit, NULL));
    ck_assert_str_eq(heddle_stat_combined(0), "sum");
    ck_assert_ptr_null(heddle_stat_combined(-1));
    ck_assert_ptr_null(heddle_stat_combined(n));
    for (int i = 0; i < n; i++) {
        const char *name = heddle_stat_name(i, NULL, NULL), *combined = heddle_stat_combined(i);
        if (strcmp(name, "gpu.ipc") == 0 || strcmp(name, "sm.occupancy") == 0) /* 1/cycle, and warps */
            ck_assert_str_eq(combined, "ratio");
        else if (strcmp(name, "gpu.max_stack_depth") == 0)
            ck_assert_str_eq(combined, "max");
    }
    ck_assert_str_eq(heddle_version(), HEDDLE_VERSION);
    heddle_close(h);
}
END_TEST

static void *stop_soon(void *h) {
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    heddle_stop(h);
    return NULL;
}

START_TEST(another_thread_ends_a_launch) {
    static const struct {
        const char *model;
        uint32_t threads;
    } cases[] = {{"functional", 1}, {"functional", 4}, {"spe", 1}, {"spe", 4}, {"dws", 2}};
    struct heddle *h = opened(cases[_i].model, cases[_i].threads);
    struct heddle_module *m = loaded(h);
    uint64_t p = heddle_alloc(h, 4);
    struct heddle_arg arg = {&p, 8};
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, stop_soon, h), 0);
    ck_assert_int_eq(
        heddle_launch(h, m, "spin", (struct heddle_dim){64, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, &arg, 1),
        HEDDLE_STOPPED);
    pthread_join(other, NULL);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "stopped after"));
    ck_assert_str_eq(heddle_incomplete(h, 0), "stopped");
    ck_assert_double_gt(heddle_stat(h, 0, "gpu.warp_instructions"), 0);
    /* The stopped launch has consumed the stop, so the next launch runs. A stop before a launch ends this launch. */
    ck_assert_int_eq(heddle_launch(h, m, "k", one, one, 0, &arg, 1), HEDDLE_OK);
    ck_assert_ptr_null(heddle_incomplete(h, 1));
    ck_assert_str_eq(heddle_incomplete(h, -1), "stopped");
    heddle_stop(h);
    ck_assert_int_eq(heddle_launch(h, m, "spin", one, one, 0, &arg, 1), HEDDLE_STOPPED);
    ck_assert_int_eq(heddle_launches(h), 3);
    /* heddle_stop_clear() cancels the stop */
    heddle_stop(h);
    heddle_stop_clear(h);
    ck_assert_int_eq(heddle_launch(h, m, "k", one, one, 0, &arg, 1), HEDDLE_OK);
    heddle_close(h);
}
END_TEST

/* A kernel writes to the caller's memory through a separate device address until heddle_free(). A context with the
 * checker accepts this mapping, too. */
START_TEST(memory_is_mapped_elsewhere) {
    struct heddle *h = opened("functional", 1);
    struct heddle_module *m = loaded(h);
    static uint32_t own[2];
    uint64_t at = heddle_map_elsewhere(h, own, sizeof own), begin, bytes;
    struct heddle_arg arg = {&at, sizeof at};
    bool same = true;
    ck_assert_msg(at != 0 && at != (uint64_t)(uintptr_t)own, "%s", heddle_error(h));
    ck_assert(heddle_buffer(h, at + 7, &begin, &bytes, &same) && begin == at && bytes == 8 && !same);
    ck_assert_int_eq(heddle_launch(h, m, "k", one, one, 0, &arg, 1), HEDDLE_OK);
    ck_assert_uint_eq(own[0], 7);
    own[0] = 0;
    ck_assert_int_eq(heddle_free(h, at), HEDDLE_OK);
    ck_assert_int_eq(heddle_launch(h, m, "k", one, one, 0, &arg, 1), HEDDLE_FAULT);
    ck_assert_uint_eq(own[0], 0);
    heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = "functional", .check = true}, NULL, 0);
    ck_assert_uint_ne(heddle_map_elsewhere(h, own, sizeof own), 0);
    heddle_close(h);
}
END_TEST

SUITE(host_handles) {
    TEST(contexts_that_are_none_are_refused);
    TEST(modules_that_are_none_are_refused);
    TEST(other_pointers_may_not_be_null);
    TEST(sizes_and_places_have_bounds);
    TEST(memory_is_mapped_elsewhere);
    TEST(a_success_clears_the_failure_before_it);
    TEST(contexts_by_the_hundred_are_told_apart);
    TEST(statistics_have_names);
    TEST_LOOP(another_thread_ends_a_launch, 0, 5);
}
