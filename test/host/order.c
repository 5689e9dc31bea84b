/* Tests kernels in which CTAs race for memory. Every run must give the same results, with any number of host
 * threads. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <cjson/cJSON.h>
#include <stdio.h>

enum { WORDS = 96, RUNS = 6 };

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                             \
    ".reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<4>; .reg .b16 %h<4>;\n"                                         \
    "ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x;\n"                          \
    "mad.lo.u32 %r4,%r2,%r3,%r1;\n"
/* computes into %rd2 the address of word (%r4 * factor + more) % 96 */
#define PLACE(factor, more)                                                                                            \
    "mad.lo.u32 %r6,%r4," factor "," more "; rem.u32 %r6,%r6,96; mul.wide.u32 %rd2,%r6,4; add.s64 %rd2,%rd2,%rd1;\n"
#define ROUNDS(n, body)                                                                                                \
    "mov.u32 %r5,0;\nLOOP:\n" body "add.u32 %r5,%r5,1; setp.lt.u32 %p1,%r5," n "; @%p1 bra LOOP;\nret;\n}\n"

static const char *const kernels[] = {
    /* all threads store to the same words */
    HEAD ROUNDS("24", PLACE("7", "%r5") "mad.lo.u32 %r7,%r4,64,%r5; st.global.u32 [%rd2],%r7;\n"),
    /* the loaded value determines the address and the value of the store, and the branch direction */
    HEAD ROUNDS("24", PLACE("13", "%r5") "ld.global.u32 %r7,[%rd2]; mad.lo.u32 %r7,%r7,1664525,%r4;\n"
                                         "and.b32 %r8,%r7,3; setp.eq.u32 %p2,%r8,0; @%p2 bra SKIP;\n"
                                         "rem.u32 %r9,%r7,96; mul.wide.u32 %rd3,%r9,4; add.s64 %rd3,%rd3,%rd1;\n"
                                         "st.global.u32 [%rd3],%r7;\nSKIP:\n"),
    /* every thread executes x += 1 and reads x again: it sees its own store unless a store of another thread comes in
     * between */
    HEAD ROUNDS("36", "ld.global.u32 %r7,[%rd1]; add.u32 %r7,%r7,1; st.global.u32 [%rd1],%r7;\n"
                      "ld.global.u32 %r8,[%rd1]; add.u32 %r8,%r8,%r7; st.global.u32 [%rd1+8],%r8;\n"),
    /* accesses to bytes and half words, vector accesses, generic addresses */
    HEAD ROUNDS("30", PLACE("1", "0") "and.b32 %r10,%r4,15; mul.wide.u32 %rd4,%r10,16; add.s64 %rd4,%rd4,%rd1;\n"
                                      "ld.v4.u32 {%r11,%r12,%r13,%r14},[%rd4]; ld.global.s8 %r15,[%rd4+3];\n"
                                      "xor.b32 %r11,%r11,%r4; add.u32 %r12,%r12,%r15; add.u32 %r13,%r13,%r5;\n"
                                      "st.v4.u32 [%rd4],{%r14,%r11,%r12,%r13}; st.global.u8 [%rd2+1],%r12;\n"
                                      "cvt.u16.u32 %h1,%r13; st.global.u16 [%rd2+2],%h1;\n"),
    /* ordinary stores, atomics and volatile accesses use the same words */
    HEAD ROUNDS("30", PLACE("5", "%r5") "st.global.u32 [%rd2],%r5; atom.global.add.u32 %r7,[%rd2],3;\n"
                                        "ld.volatile.global.u32 %r8,[%rd1]; st.global.u32 [%rd1],%r7;\n"
                                        "st.volatile.global.u32 [%rd1+4],%r8;\n"),
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

/* The results of a run: memory, and statistics without host time and host memory. */
struct shown {
    uint32_t word[WORDS];
    char *stats;
};

static char *stats_of(struct heddle *h) {
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(heddle_write_json(h, f, 0, NULL, -1), HEDDLE_OK);
    fclose(f);
    cJSON *o = cJSON_Parse(text), *stats = cJSON_DetachItemFromObject(o, "stats");
    for (cJSON *s = stats->child, *next; s; s = next) {
        next = s->next;
        if (strncmp(s->string, "host.", 5) == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(stats, s));
    }
    free(text);
    text = cJSON_Print(stats);
    cJSON_Delete(stats);
    cJSON_Delete(o);
    return text;
}

static struct shown run_ctas(const char *kernel, uint32_t ctas, const char *model, const char *const *set,
                             uint32_t threads) {
    char err[256];
    struct shown s;
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .set = set, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "racy.ptx", kernel, strlen(kernel));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4 * WORDS);
    int status = heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){96, 1, 1}, 0,
                               &(struct heddle_arg){&p, 8}, 1);
    ck_assert_msg(status == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, p, s.word, sizeof s.word), HEDDLE_OK);
    s.stats = stats_of(h);
    heddle_close(h);
    return s;
}

static struct shown run(const char *kernel, const char *model, const char *const *set, uint32_t threads) {
    return run_ctas(kernel, 45, model, set, threads);
}

/* Compares the results of runs on several numbers of host threads with the results of a run on one thread. By default
 * every second kernel is compared, with only one number of threads; `turn` selects the kernels and this number. With
 * HEDDLE_EVERY each kernel is compared with each number of threads. */
static void same_always(const char *model, const char *const *set, int turn) {
    static const uint32_t threads[] = {2, 4, 8, 3, 2, 1};
    for (int k = 0; k < N_KERNELS; k++) {
        if (!test_every() && (k + turn) % 2)
            continue;
        struct shown first = run(kernels[k], model, set, 1);
        for (int i = test_every() ? 0 : (k + turn / 2) % RUNS; i < RUNS; i += test_every() ? 1 : RUNS) {
            struct shown now = run(kernels[k], model, set, threads[i]);
            ck_assert_msg(memcmp(now.word, first.word, sizeof now.word) == 0, "%s, kernel %d: memory with %u threads",
                          model, k, threads[i]);
            ck_assert_msg(strcmp(now.stats, first.stats) == 0, "%s, kernel %d: statistics with %u threads", model, k,
                          threads[i]);
            free(now.stats);
        }
        free(first.stats);
    }
}

/* By default every second base model is tested, with HEDDLE_EVERY all of them. */
static int step(void) { return test_every() ? 1 : 2; }
START_TEST(races_of_sms_end_alike) { same_always(base_models()->name[_i * step()], NULL, _i); }
END_TEST

START_TEST(with_any_memory) {
    same_always("spe", (const char *const[]){"memory.model=fixed", NULL}, 0);
    same_always("spe", (const char *const[]){"gpu.poll=true", NULL}, 1);
}
END_TEST

/* Code that always comes from the clusters' caches makes SMs stop where they do not know their room: the next window
 * may begin between two halves. One thread moves requests later than four threads do, so fewer events are known. */
START_TEST(windows_of_two_halves_begin_alike) {
    static const char *const set[] = {"gpc.sms=2", "l1i.size=256", "l1i.ways=2", NULL};
    struct shown one = run_ctas(kernels[4], 90, "spe", set, 1), four = run_ctas(kernels[4], 90, "spe", set, 4);
    ck_assert_mem_eq(one.word, four.word, sizeof one.word);
    ck_assert_str_eq(one.stats, four.stats);
    free(one.stats);
    free(four.stats);
}
END_TEST

START_TEST(functional_races_in_strict_order) {
    same_always("functional", (const char *const[]){"gpu.order=strict", NULL}, 0);
    same_always("functional", (const char *const[]){"gpu.order=strict", "reconv=its", NULL}, 1);
}
END_TEST

/* In the functional model with gpu.order=strict, 45 CTAs of 96 threads run strictly one after another. */
START_TEST(strict_order_is_that_of_one_thread) {
    struct shown one = run(kernels[1], "functional", NULL, 1),
                 four = run(kernels[1], "functional", (const char *const[]){"gpu.order=strict", NULL}, 4);
    ck_assert_mem_eq(one.word, four.word, sizeof one.word);
    ck_assert_str_eq(one.stats, four.stats);
    free(one.stats);
    free(four.stats);
}
END_TEST

/* A thread must see its own latest store at once: in the functional model, in the timing model with each memory model,
 * and with three host threads. Each thread writes only its own words. */
static const char own[] = HEAD "mul.wide.u32 %rd2,%r4,16; add.s64 %rd2,%rd2,%rd1;\n" ROUNDS(
    "20", "ld.global.u32 %r7,[%rd2]; add.u32 %r7,%r7,%r4; st.global.u32 [%rd2],%r7; st.global.u8 [%rd2+5],%r7;\n"
          "ld.global.v2.u32 {%r8,%r9},[%rd2]; xor.b32 %r8,%r8,%r9; st.global.v2.u32 [%rd2+8],{%r8,%r9};\n"
          "ld.global.u64 %rd3,[%rd2+8]; cvt.u32.u64 %r10,%rd3; add.u32 %r10,%r10,%r7; st.global.u32 [%rd2+12],%r10;\n");

START_TEST(own_stores_are_seen_at_once) {
    enum { THREADS = 20 * 64 };
    uint32_t *got[4];
    for (int i = 0; i < 4; i++) {
        char err[256];
        struct heddle *h = heddle_open(
            &(struct heddle_options){.model = i ? "spe" : "functional",
                                     .threads = i == 3 ? 3 : 1,
                                     .set = i == 2 ? (const char *const[]){"memory.model=fixed", NULL} : NULL},
            err, sizeof err);
        struct heddle_module *m = heddle_module_text(h, "own.ptx", own, strlen(own));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, 16 * THREADS);
        ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){20, 1, 1}, (struct heddle_dim){64, 1, 1}, 0,
                                       &(struct heddle_arg){&p, 8}, 1),
                         HEDDLE_OK);
        got[i] = calloc(THREADS, 16);
        ck_assert_int_eq(heddle_read(h, p, got[i], 16 * THREADS), HEDDLE_OK);
        heddle_close(h);
    }
    /* in C */
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t w[4] = {0};
        for (int k = 0; k < 20; k++) {
            w[0] += t;
            memcpy((unsigned char *)w + 5, w, 1);
            w[2] = w[0] ^ w[1];
            w[3] = w[1];
            w[3] = w[2] + w[0];
        }
        for (int i = 0; i < 4; i++)
            EXPECT(memcmp(got[i] + 4 * t, w, sizeof w) == 0, "run %d, thread %u", i, t);
    }
    for (int i = 0; i < 4; i++)
        free(got[i]);
}
END_TEST

SUITE(host_order) {
    tcase_set_timeout(tc, 120);
    TEST_LOOP(races_of_sms_end_alike, 0, (base_models()->n + step() - 1) / step());
    TEST(with_any_memory);
    TEST(windows_of_two_halves_begin_alike);
    TEST(functional_races_in_strict_order);
    TEST(strict_order_is_that_of_one_thread);
    TEST(own_stores_are_seen_at_once);
}
