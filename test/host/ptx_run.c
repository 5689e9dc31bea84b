/* Tests ptx_run(): arguments by value, access to the caller's memory, reuse of compiled sources, and messages before
 * abort(). */
#include "host/heddle.h"
#include "test/test.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"
/* Computes to[i] = from[i] * by + bytes of dynamic shared memory. Grid and CTA have three dimensions. */
static const char scale[] = HEAD ".extern .shared .align 4 .b8 pad[];\n"
                                 ".visible .entry scale(.param .u64 to, .param .u64 from, .param .s32 by) {\n"
                                 ".reg .u64 %t,%f,%o; .reg .u32 %i,%n,%x; .reg .s32 %v,%b;\n"
                                 "mov.u32 %i,%ctaid.z; mov.u32 %n,%nctaid.y; mov.u32 %x,%ctaid.y;\n"
                                 "mad.lo.u32 %i,%i,%n,%x; mov.u32 %n,%nctaid.x; mov.u32 %x,%ctaid.x;\n"
                                 "mad.lo.u32 %i,%i,%n,%x; mov.u32 %n,%ntid.z; mov.u32 %x,%tid.z;\n"
                                 "mad.lo.u32 %i,%i,%n,%x; mov.u32 %n,%ntid.y; mov.u32 %x,%tid.y;\n"
                                 "mad.lo.u32 %i,%i,%n,%x; mov.u32 %n,%ntid.x; mov.u32 %x,%tid.x;\n"
                                 "mad.lo.u32 %i,%i,%n,%x; mul.wide.u32 %o,%i,4;\n"
                                 "ld.param.u64 %t,[to]; ld.param.u64 %f,[from]; ld.param.s32 %b,[by];\n"
                                 "add.u64 %t,%t,%o; add.u64 %f,%f,%o; ld.global.s32 %v,[%f]; mul.lo.s32 %v,%v,%b;\n"
                                 "mov.u32 %x,%dynamic_smem_size; add.s32 %v,%v,%x; st.global.s32 [%t],%v; ret; }\n";
/* Counts its calls in a module variable, whose initial value is 40. */
static const char counts[] = HEAD ".global .u32 calls = 40;\n.visible .entry z(.param .u64 p) { trap; }\n"
                                  ".visible .entry a(.param .u64 p) { .reg .u64 %d; .reg .u32 %r;\n"
                                  "ld.param.u64 %d,[p]; ld.global.u32 %r,[calls]; add.u32 %r,%r,1;\n"
                                  "st.global.u32 [calls],%r; st.global.u32 [%d],%r; ret; }\n";

static void run_scale(int32_t *to, const int32_t *from, int32_t by, int shared) {
    void *args[] = {to, (void *)(uintptr_t)from, (void *)(uintptr_t)(uint32_t)by};
    ptx_run(scale, 3, args, 4, 2, 2, 3, 2, 2, shared); /* 16 threads per block, 12 blocks */
}
enum { ALL = 16 * 12 };

START_TEST(the_callers_memory) {
    static int32_t globals[ALL];
    int32_t stack[ALL] = {0}, *heap = calloc(ALL, sizeof *heap);
    int32_t *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(heap && pages != MAP_FAILED);
    for (int i = 0; i < ALL; i++)
        stack[i] = i;
    run_scale(globals, stack, -3, 0);
    run_scale(heap, globals, 2, 256);
    run_scale(pages, heap, 1, 8);
    for (int i = 0; i < ALL; i++) { /* the launches compute -3 i, then -6 i + 256, then -6 i + 264 */
        ck_assert_int_eq(globals[i], -3 * i);
        ck_assert_int_eq(heap[i], -6 * i + 256);
        ck_assert_int_eq(pages[i], -6 * i + 264);
    }
    free(heap);
    munmap(pages, 4096);
}
END_TEST

/* If a source has several kernels, the first kernel runs. Every call starts with the initial values of the module's
 * variables. */
START_TEST(sources_are_as_new) {
    for (int i = 0; i < 3; i++) {
        uint32_t got = 0;
        void *args[] = {&got};
        ptx_run(counts, 1, args, 1, 1, 1, 1, 1, 1, 0);
        ck_assert_uint_eq(got, 41);
    }
}
END_TEST

/* Compiles more sources than the table of compiled sources can keep. Every source is in the same buffer, so the table
 * must compare texts, not addresses. */
START_TEST(many_sources) {
    char text[512];
    for (int i = 0; i < 5000; i++) {
        uint32_t got = 0;
        void *args[] = {&got};
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k(.param .u64 p) { .reg .u64 %%d; .reg .u32 %%r; ld.param.u64 %%d,[p];\n"
                      "mov.u32 %%r,%d; st.global.u32 [%%d],%%r; ret; }\n",
                 i % 4500);
        ptx_run(text, 1, args, 1, 1, 1, 1, 1, 1, 0);
        ck_assert_uint_eq(got, (uint32_t)(i % 4500));
    }
}
END_TEST

static void *many_calls(void *at) {
    int32_t from[ALL], *to = at;
    for (int i = 0; i < ALL; i++)
        from[i] = i;
    for (int n = 0; n < 50; n++)
        run_scale(to, from, n, 0);
    return NULL;
}

START_TEST(from_threads_and_children) {
    pthread_t other[4];
    static int32_t to[4][ALL];
    for (int t = 0; t < 4; t++)
        ck_assert_int_eq(pthread_create(&other[t], NULL, many_calls, to[t]), 0);
    for (int t = 0; t < 4; t++)
        pthread_join(other[t], NULL);
    for (int i = 0; i < 4 * ALL; i++)
        ck_assert_int_eq(to[i / ALL][i % ALL], 49 * (i % ALL));
    setenv("HEDDLE_THREADS", "2", 1);
    pid_t child = fork(); /* after fork(), the child process does not have the worker threads of its parent */
    if (!child) {
        run_scale(to[0], to[1], 1, 7);
        _exit(to[0][5] == 49 * 5 + 7 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* Calls that fail: the source, its arguments, the signal that ends the process, and the message. */
static const struct {
    const char *source;
    int n, threads;
    uint64_t value;
    int signal;
    const char *said;
} bad[] = {
    {NULL, 1, 1, 0, SIGABRT, "ptx_run: the source is NULL\n"},
    {"", 1, 1, 0, SIGABRT, "ptx_run: the source"},
    {HEAD, 1, 1, 0, SIGABRT, "ptx_run: the source has no kernel\n"},
    {HEAD ".visible .entry k(.param .u64 p) { nonsense; ret; }\n", 1, 1, 0, SIGABRT, "ptx_run: the source:4:"},
    {counts, 0, 1, 0, SIGABRT, "ptx_run: kernel 'a' has 1 parameter, and 0 arguments were given\n"},
    {counts, 1, 2000, 0, SIGABRT, "ptx_run: kernel 'a': "},
    {counts, 1, -1, 0, SIGABRT, "ptx_run: kernel 'a': "},
    {HEAD ".visible .entry k(.param .align 16 .b8 p[16]) { ret; }\n", 1, 1, 0, SIGABRT,
     "ptx_run: kernel 'k': parameter 1 has 16 bytes, and only 8 can be given\n"},
    {HEAD ".visible .entry k(.param .u64 p) { trap; }\n", 1, 1, 0, SIGABRT, "ptx_run: "},
    {counts, 1, 1, 0x300000000002, SIGABRT, "ptx_run: "}, /* not aligned */
    {counts, 1, 1, 0x10, SIGABRT, "ptx_run: "},           /* an address in the page of the null pointer */
    {counts, 1, 1, 0x200000001000, SIGSEGV,
     "ptx_run: address 0x200000001000 is not mapped, or is read-only: kernel 'a' accessed it\n"},
};

START_TEST(what_is_wrong_is_said) {
    char text[2048] = "";
    int to[2], status;
    ck_assert_int_eq(pipe(to), 0);
    pid_t child = fork();
    if (!child) {
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        dup2(to[1], STDERR_FILENO);
        void *args[] = {(void *)(uintptr_t)bad[_i].value};
        ptx_run(bad[_i].source, bad[_i].n, args, bad[_i].threads, 1, 1, 1, 1, 1, 0);
        _exit(0);
    }
    close(to[1]);
    size_t len = 0;
    for (ssize_t got; len < sizeof text - 1 && (got = read(to[0], text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)got;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == bad[_i].signal, "status %d: %s", status, text);
    ck_assert_msg(strncmp(text, bad[_i].said, strlen(bad[_i].said)) == 0, "%s", text);
}
END_TEST

SUITE(host_ptx_run) {
    tcase_set_timeout(tc, 60);
    TEST(the_callers_memory);
    TEST(sources_are_as_new);
    TEST(many_sources);
    TEST(from_threads_and_children);
    TEST_LOOP(what_is_wrong_is_said, 0, (int)(sizeof bad / sizeof bad[0]));
}
