/* Tests files of launches: recording, replaying from every launch and from several CTAs, extraction, and files that are
 * damaged. In every model, a replay must leave the same device memory as the recorded run. Its statistics must equal
 * those of a run whose earlier launches ran functionally. */
#include "host/replay.h"
#include "host/heddle.h"
#include "host/launch_file.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include <stdio.h>
#include <unistd.h>

static char path[64], other[64];
static const char *machine = "tiny";

static void setup(void) {
    snprintf(path, sizeof path, "/tmp/heddle-replay-%d", (int)getpid());
    snprintf(other, sizeof other, "/tmp/heddle-replay-%d-b", (int)getpid());
}

static void teardown(void) {
    unlink(path);
    unlink(other);
}

static struct heddle *open_with(struct heddle_options o) {
    char err[1024];
    o.config = machine;
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

#define FINE(h, status) ck_assert_msg((status) == HEDDLE_OK, "%s", heddle_error(h))

/* A program of LAUNCHES launches whose host changes memory between them. It has two modules, and buffers that it frees
 * and allocates again. Kernel `step` adds its argument and the table's word to each of 6 * 32 words; kernel `mix`
 * exchanges words of two buffers. */
enum { LAUNCHES = 6, CTAS = 6, WORDS = CTAS * 32 };
static const char text_a[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 table[4] = {3, 5, 7, 11};\n.const .u32 c = 9;\n"
    ".visible .entry step(.param .u64 p, .param .u32 v) {\n.reg .b32 %a,%b,%i; .reg .b64 %d,%o,%t;\n"
    "ld.param.u64 %d,[p]; ld.param.u32 %a,[v]; mov.u32 %i,%ctaid.x; mov.u32 %b,%ntid.x; mul.lo.u32 %i,%i,%b;\n"
    "mov.u32 %b,%tid.x; add.u32 %i,%i,%b; mul.wide.u32 %o,%i,4; add.u64 %d,%d,%o;\n"
    "mov.u64 %t,table; ld.global.u32 %b,[%t+4]; add.u32 %a,%a,%b; ld.const.u32 %b,[c]; add.u32 %a,%a,%b;\n"
    "ld.global.u32 %b,[%d]; mul.lo.u32 %b,%b,3; add.u32 %b,%b,%a; st.global.u32 [%d],%b; ret; }\n";
static const char text_b[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry mix(.param .u64 p, .param .u64 q) {\n"
    ".reg .b32 %a,%b,%i; .reg .b64 %d,%e,%o; .reg .pred %p;\n"
    "ld.param.u64 %d,[p]; ld.param.u64 %e,[q]; mov.u32 %i,%ctaid.x; shl.b32 %i,%i,5; mov.u32 %b,%tid.x;\n"
    "add.u32 %i,%i,%b; mul.wide.u32 %o,%i,4; add.u64 %d,%d,%o; add.u64 %e,%e,%o; and.b32 %b,%b,3;\n"
    "L: ld.global.u32 %a,[%d]; add.u32 %a,%a,%i; st.global.u32 [%e],%a; st.global.u32 [%d],%b;\n"
    "sub.u32 %b,%b,1; setp.ge.s32 %p,%b,0; @%p bra L; ret; }\n";

/* Runs the program, and returns the words of both buffers after it, or after launch `last`. */
static void program(struct heddle *h, uint32_t result[2 * WORDS]) {
    const struct heddle_dim grid = {CTAS, 1, 1}, block = {32, 1, 1};
    struct heddle_module *a = heddle_module_text(h, "a.ptx", text_a, sizeof text_a - 1), *b = NULL;
    ck_assert_msg(a != NULL, "%s", heddle_error(h));
    uint64_t x = heddle_alloc(h, WORDS * 4), y = heddle_alloc(h, 64 << 10);
    uint32_t in[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i * 2654435761u;
    FINE(h, heddle_write(h, x, in, sizeof in));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        if (i == 2)
            ck_assert_ptr_nonnull(b = heddle_module_text(h, "b.ptx", text_b, sizeof text_b - 1));
        if (i == 3) {
            FINE(h, heddle_free(h, y));
            y = heddle_alloc(h, 64 << 10);
            FINE(h, heddle_write(h, y, in, sizeof in)); /* the file already contains these bytes */
        }
        if (i % 2)
            FINE(h, heddle_write(h, x + 4 * i, &i, sizeof i));
        if (i < 2 || i == 4)
            FINE(h,
                 heddle_launch(h, a, "step", grid, block, 0, (struct heddle_arg[]){{&x, 8}, {&(uint32_t){i}, 4}}, 2));
        else
            FINE(h, heddle_launch(h, b, "mix", grid, block, 0, (struct heddle_arg[]){{&x, 8}, {&y, 8}}, 2));
    }
    FINE(h, heddle_read(h, x, result, WORDS * 4));
    FINE(h, heddle_read(h, y, result + WORDS, WORDS * 4));
}

static void record(const char *model, uint64_t at, uint64_t cta, uint32_t result[2 * WORDS]) {
    struct heddle *h = open_with(
        (struct heddle_options){.model = model, .checkpoint = path, .checkpoint_launch = at, .checkpoint_cta = cta});
    program(h, result);
    FINE(h, heddle_checkpoint_end(h));
    heddle_close(h);
}

/* Replays the file with `verify`. Returns the cycles of its launches. */
static double replay(const char *model, uint64_t from) {
    struct heddle *h = open_with((struct heddle_options){.model = model});
    FINE(h, heddle_replay(h, path, &(struct heddle_replay_options){.from = from, .verify = true}));
    double cycles = heddle_stat(h, -1, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* A run with a checkpoint leaves the same memory as a run without one. Checksums compare the memory of its replay. */
START_TEST(every_launch_in_every_model) {
    const struct every_model *m = timed_models();
    uint32_t whole[2 * WORDS], with[2 * WORDS];
    struct heddle *h = open_with((struct heddle_options){.model = "functional"});
    program(h, whole);
    heddle_close(h);
    for (uint64_t at = 0; at < LAUNCHES; at++)
        for (uint64_t cta = 0; cta < CTAS; cta += 1 + at) {
            test_case("launch %d, CTA %d", (int)at, (int)cta);
            record("functional", at, cta, with);
            ck_assert_mem_eq(with, whole, sizeof with);
            replay("functional", 0);
            replay(m->name[(at * CTAS + cta) % (uint64_t)m->n], 0);
        }
    record("functional", 2, 3, with);
    for (int i = 0; i < m->n; i++) {
        test_case("%s", m->name[i]);
        replay(m->name[i], 0);
        replay(m->name[i], 4);
    }
}
END_TEST

/* The launches from 3 on have the same statistics in three ways: after functional predecessors in the program, replayed
 * from launch 3 of a whole record, and resumed from a checkpoint. */
START_TEST(statistics_of_a_resumed_launch) {
    static const char *const models[] = {"spe", "dpe", "its", "dws10"};
    static const char *const stats[] = {"gpu.cycles", "gpu.warp_instructions", "l2.misses", "dram.reads", "l1.hits"};
    uint32_t result[2 * WORDS];
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct heddle *h[3];
        h[0] = open_with((struct heddle_options){.model = models[i], .time_launches = "3:"});
        program(h[0], result);
        record("functional", 0, 0, result);
        h[1] = open_with((struct heddle_options){.model = models[i]});
        FINE(h[1], heddle_replay(h[1], path, &(struct heddle_replay_options){.from = 3}));
        record(models[i], 3, 0, result);
        h[2] = open_with((struct heddle_options){.model = models[i]});
        FINE(h[2], heddle_replay(h[2], path, &(struct heddle_replay_options){.resume = true}));
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(heddle_launches(h[k]), 3);
        for (size_t s = 0; s < sizeof stats / sizeof *stats; s++)
            for (int l = -1; l < 3; l++)
                for (int k = 1; k < 3; k++)
                    ck_assert_msg(heddle_stat(h[0], l, stats[s]) == heddle_stat(h[k], l, stats[s]),
                                  "%s, launch %d, way %d: %s is %g, not %g", models[i], l, k, stats[s],
                                  heddle_stat(h[k], l, stats[s]), heddle_stat(h[0], l, stats[s]));
        ck_assert(heddle_stat(h[0], 0, "gpu.cycles") > 0);
        for (int k = 0; k < 3; k++)
            heddle_close(h[k]);
    }
}
END_TEST

/* After a checkpoint at CTA 4 of 6, the last 2 CTAs run in time, with every CTA policy. */
START_TEST(ctas_after_a_checkpoint) {
    static const char *const policies[] = {"gpu.cta_policy=in_order", "gpu.cta_policy=lcs", "gpu.cta_policy=bcs"};
    uint32_t result[2 * WORDS];
    record("spe", 1, 4, result);
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        char err[512];
        const char *set[] = {policies[i], NULL};
        struct heddle *h =
            heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set}, err, sizeof err);
        if (!h)
            continue; /* this build has no such policy */
        FINE(h, heddle_replay(h, path, &(struct heddle_replay_options){.verify = true}));
        ck_assert_double_eq(heddle_stat(h, 0, "gpu.ctas"), 2);
        ck_assert_double_eq(heddle_stat(h, 1, "gpu.ctas"), CTAS);
        heddle_close(h);
    }
    struct heddle *h = open_with((struct heddle_options){.model = "spe", .checkpoint = path, .checkpoint_cta = CTAS});
    struct heddle_module *a = heddle_module_text(h, "a.ptx", text_a, sizeof text_a - 1);
    uint64_t x = heddle_alloc(h, WORDS * 4);
    ck_assert_int_eq(heddle_launch(h, a, "step", (struct heddle_dim){CTAS, 1, 1}, (struct heddle_dim){32, 1, 1}, 0,
                                   (struct heddle_arg[]){{&x, 8}, {&(uint32_t){1}, 4}}, 2),
                     HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "a checkpoint after 6 CTAs: the grid has 6 CTAs"));
    heddle_close(h);
}
END_TEST

/* Only the chosen launches are counted, and the results do not depend on the choice. */
START_TEST(launches_in_time) {
    static const struct {
        const char *which;
        int n;
    } rows[] = {{"3", 1}, {"1:4", 3}, {"4:", 2}, {"mix", 3}, {"step@1", 1}, {"step@1:3", 2}, {"none", 0}};
    uint32_t whole[2 * WORDS], result[2 * WORDS];
    struct heddle *h = open_with((struct heddle_options){.model = "dpe"});
    program(h, whole);
    ck_assert_int_eq(heddle_launches(h), LAUNCHES);
    heddle_close(h);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        h = open_with((struct heddle_options){.model = "dpe", .time_launches = rows[i].which});
        program(h, result);
        ck_assert_msg(heddle_launches(h) == rows[i].n, "%s: %d", rows[i].which, heddle_launches(h));
        ck_assert_mem_eq(result, whole, sizeof whole);
        heddle_close(h);
    }
    static const char *const wrong[] = {"3:3", "4:2", "", "@1", "mix@", "mix@x", "1x", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char err[512];
        struct heddle_options o = {.model = "spe", .config = "tiny", .time_launches = wrong[i]};
        ck_assert_msg(!heddle_open(&o, err, sizeof err) && strstr(err, "selects no launch"), "%s", wrong[i]);
    }
}
END_TEST

/* An extracted launch takes no more cycles than the same launch in a checkpoint. Its file lacks the buffers that the
 * launch does not access. */
START_TEST(one_launch) {
    uint32_t result[2 * WORDS];
    record("functional", 4, 0, result);
    const double cycles = replay("spe", 0);
    record("functional", 0, 0, result);
    struct heddle *h = open_with((struct heddle_options){.model = "functional"});
    FINE(h, heddle_extract(h, path, 4, other));
    heddle_close(h);
    h = open_with((struct heddle_options){.model = "spe"});
    FINE(h, heddle_replay(h, other, &(struct heddle_replay_options){.verify = true}));
    ck_assert_int_eq(heddle_launches(h), 1);
    ck_assert_double_gt(heddle_stat(h, 0, "gpu.cycles"), 0);
    ck_assert_double_le(heddle_stat(h, 0, "gpu.cycles"), cycles);
    /* launch 4 is `step`, which does not access y, so the buffer y is not in the file */
    int buffers = 0;
    uint64_t begin, end = 0;
    for (uint64_t at = 1 << 24; at < 3ull << 28; at += 256)
        if (at >= end && heddle_buffer(h, at, &begin, &end, NULL)) {
            buffers += end == WORDS * 4;
            ck_assert_uint_ne(end, 64 << 10);
            end += begin;
        }
    ck_assert_int_le(buffers, 1);
    heddle_close(h);
    h = open_with((struct heddle_options){.model = "functional"});
    ck_assert_int_eq(heddle_extract(h, path, LAUNCHES, other), HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(heddle_error(h), "there is no launch 6; the file has 0 to 5"));
    heddle_close(h);
}
END_TEST

/* With random kernels, memory after a replay in a timing model equals memory after the recorded functional run. */
START_TEST(random_programs) {
    const struct every_model *m = timed_models();
    static uint32_t in[RANDOM_IN_WORDS];
    machine = "fermi"; /* the smaller machine has too few registers for these kernels */
    for (uint64_t seed = 1; seed <= 6; seed++) {
        test_case("seed %d", (int)seed);
        char *text = random_kernel(seed, RANDOM_RICH);
        random_input(seed, in);
        struct heddle *h =
            open_with((struct heddle_options){.model = "functional", .checkpoint = path, .checkpoint_cta = seed % 2});
        struct heddle_module *k = heddle_module_text(h, "random.ptx", text, strlen(text));
        ck_assert_msg(k != NULL, "%s", heddle_error(h));
        uint64_t x = heddle_alloc(h, 4 * RANDOM_OUT_WORDS), y = heddle_alloc(h, sizeof in);
        FINE(h, heddle_write(h, y, in, sizeof in));
        FINE(h,
             heddle_launch(h, k, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1}, (struct heddle_dim){RANDOM_THREADS, 1, 1},
                           0, (struct heddle_arg[]){{&x, 8}, {&y, 8}}, 2));
        heddle_close(h);
        free(text);
        replay("functional", 0);
        replay(m->name[seed * 7 % (uint64_t)m->n], 0);
    }
}
END_TEST

static unsigned char *read_file(const char *name, size_t *n) {
    FILE *f = fopen(name, "rb");
    ck_assert_ptr_nonnull(f);
    unsigned char *data = malloc(1 << 20);
    *n = fread(data, 1, 1 << 20, f);
    fclose(f);
    ck_assert_uint_lt(*n, 1 << 20);
    return data;
}

static void write_bytes(const char *name, const unsigned char *data, size_t n) {
    FILE *f = fopen(name, "wb");
    ck_assert_uint_eq(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* Replays `other`, and returns the status. The message must contain `text`. */
static enum heddle_status refused(const char *text, bool partial) {
    struct heddle *h = open_with((struct heddle_options){.model = "functional"});
    enum heddle_status s = heddle_replay(h, other, &(struct heddle_replay_options){.partial = partial, .verify = true});
    if (s != HEDDLE_OK)
        ck_assert_msg(strstr(heddle_error(h), text) != NULL, "%s", heddle_error(h));
    heddle_close(h);
    return s;
}

/* Every change of a byte, and every cut, is detected before a launch runs. With `partial`, the
 * launches before the cut run. */
START_TEST(damaged_files) {
    uint32_t result[2 * WORDS];
    uint64_t random = 7;
    size_t n;
    record("functional", 0, 0, result);
    unsigned char *data = read_file(path, &n);
    for (int i = 0; i < 300; i++) {
        const size_t at = i < 40 ? (size_t)i : test_random_below(&random, (uint32_t)n);
        const unsigned char old = data[at];
        data[at] ^= (unsigned char)(1 << test_random_below(&random, 8));
        write_bytes(other, data, n);
        test_case("byte %d", (int)at);
        if (at < 12 || at >= 16) /* four bytes of the header are unused */
            ck_assert_int_eq(refused("", false), HEDDLE_USAGE);
        data[at] = old;
    }
    for (int i = 0; i < 60; i++) {
        const size_t cut = i == 0 ? n - 1 : test_random_below(&random, (uint32_t)n);
        test_case("cut at %d", (int)cut);
        write_bytes(other, data, cut);
        ck_assert_int_eq(refused(cut < 8 ? "no file of launches" : "cut off", false), HEDDLE_USAGE);
        if (cut == n - 1)
            ck_assert_int_eq(refused("", true), HEDDLE_OK);
    }
    data[8] = 77;
    write_bytes(other, data, n);
    ck_assert_int_eq(refused("a file of launches of format 77; Heddle " HEDDLE_VERSION " reads format 1", false),
                     HEDDLE_USAGE);
    write_bytes(other, (const unsigned char *)text_a, sizeof text_a);
    ck_assert_int_eq(refused("it is no file of launches", false), HEDDLE_USAGE);
    free(data);
}
END_TEST

/* Contents that contradict each other are refused, even if their checksums are right. */
START_TEST(wrong_contents) {
    uint32_t result[2 * WORDS];
    uint64_t random = 11;
    record("functional", 0, 0, result);
    for (int i = 0; i < 150; i++) {
        struct launch_file f;
        struct chunk_text t = {0};
        char err[512];
        ck_assert_msg(launch_file_open(&f, path, err, sizeof err), "%s", err);
        FILE *to = fopen(other, "wb");
        ck_assert(launch_file_begin(to));
        const int which = i % 12;
        enum launch_chunk type;
        for (int k = 0; (type = launch_file_next(&f, &t)); k++) {
            for (int c = 0; k == which && c < 3 && t.n && type != CHUNK_MODULE; c++)
                t.data[test_random_below(&random, (uint32_t)t.n)] = (unsigned char)test_random_below(&random, 256);
            if (type == CHUNK_LAUNCH && k == which) /* a changed grid could run for hours */
                t.n = 40;
            ck_assert(launch_file_put(to, type, &t));
        }
        fclose(to);
        launch_file_close(&f);
        chunk_free(&t);
        test_case("change %d", i);
        refused("", false); /* may succeed or fail, but must not crash */
    }
}
END_TEST

/* Chunks that name a module, an allocation or a page that does not exist are refused. */
START_TEST(chunks_without_a_state) {
    static const enum launch_chunk types[] = {CHUNK_LAUNCH, CHUNK_PAGES, CHUNK_MODULE, CHUNK_ALLOCATIONS};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct heddle *h = open_with((struct heddle_options){.model = "functional"});
        struct replay r = {.h = h};
        struct replayed_launch l;
        for (int k = 0; k < 16; k++)
            chunk_put_u64(&r.chunk, 1);
        ck_assert(!replay_apply(&r, types[i], &l));
        replay_close(&r);
        heddle_close(h);
    }
}
END_TEST

/* A stopped run leaves a whole file, which resumes at the launch that was stopped. */
START_TEST(a_stopped_run) {
    static const char endless[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry e(.param .u64 p) {\n"
                                  ".reg .b32 %a; .reg .b64 %d; .reg .pred %p;\nld.param.u64 %d,[p];\n"
                                  "L: ld.global.u32 %a,[%d]; setp.eq.u32 %p,%a,0; @%p bra L; ret; }\n";
    struct heddle *h = open_with((struct heddle_options){.model = "spe", .checkpoint = path});
    struct heddle_module *a = heddle_module_text(h, "a.ptx", text_a, sizeof text_a - 1),
                         *e = heddle_module_text(h, "e.ptx", endless, sizeof endless - 1);
    uint64_t x = heddle_alloc(h, WORDS * 4);
    const struct heddle_dim grid = {CTAS, 1, 1}, block = {32, 1, 1};
    FINE(h, heddle_launch(h, a, "step", grid, block, 0, (struct heddle_arg[]){{&x, 8}, {&(uint32_t){1}, 4}}, 2));
    FINE(h, heddle_clear(h, x, 4));
    heddle_stop(h);
    ck_assert_int_eq(heddle_launch(h, e, "e", grid, block, 0, (struct heddle_arg[]){{&x, 8}}, 1), HEDDLE_STOPPED);
    heddle_close(h);
    struct launch_file_info info;
    char err[512];
    ck_assert_msg(launch_file_info(path, &info, err, sizeof err), "%s", err);
    ck_assert_int_eq(info.end, FILE_STOPPED);
    ck_assert_uint_eq(info.launches, 2);
    launch_file_info_free(&info);
    h = open_with((struct heddle_options){.model = "spe", .cycle_limit = 2000});
    ck_assert_int_eq(heddle_replay(h, path, &(struct heddle_replay_options){.resume = true}), HEDDLE_DEADLOCK);
    ck_assert_int_eq(heddle_launches(h), 1); /* launch 0 ran functionally */
    ck_assert_str_eq(heddle_launch_kernel(h, 0), "e");
    heddle_close(h);
}
END_TEST

SUITE(host_replay) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(every_launch_in_every_model);
    TEST(statistics_of_a_resumed_launch);
    TEST(ctas_after_a_checkpoint);
    TEST(launches_in_time);
    TEST(one_launch);
    TEST(random_programs);
    TEST(damaged_files);
    TEST(wrong_contents);
    TEST(chunks_without_a_state);
    TEST(a_stopped_run);
}
