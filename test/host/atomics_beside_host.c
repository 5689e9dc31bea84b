/* Tests that atomics of kernels on memory of the host are atomic for threads of the host, too. */
#include "host/heddle.h"
#include "test/test.h"
#include <pthread.h>
#include <stdatomic.h>

/* `rounds` times, each thread adds 1 to the words p[0] (u32) and p[2] (u64), and to p[4] by compare-and-swap. */
static const char text[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                           ".visible .entry add(.param .u64 p, .param .u32 rounds) {\n"
                           ".reg .pred %q; .reg .u32 %n, %v, %new, %old; .reg .u64 %p;\n"
                           "ld.param.u64 %p, [p]; ld.param.u32 %n, [rounds];\n"
                           "NEXT: red.relaxed.sys.global.add.u32 [%p], 1;\n"
                           "red.global.add.u64 [%p+8], 1; ld.volatile.global.u32 %v, [%p+16];\n"
                           "AGAIN: add.u32 %new, %v, 1; mov.u32 %old, %v;\n"
                           "atom.global.cas.b32 %v, [%p+16], %v, %new; setp.ne.u32 %q, %v, %old; @%q bra AGAIN;\n"
                           "sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra NEXT; ret; }\n";
enum { THREADS = 32 };

struct words {
    uint32_t word, unused;
    uint64_t wide;
    uint32_t swapped;
};

struct adder {
    struct words *at;
    atomic_bool runs, stop;
    uint64_t n; /* additions of the host to each word */
};

static void *add(void *arg) {
    struct adder *a = arg;
    for (; !atomic_load(&a->stop); a->n++) {
        atomic_store(&a->runs, true);
        __atomic_fetch_add(&a->at->word, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&a->at->wide, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&a->at->swapped, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* No addition of the kernel or of the host is lost. */
START_TEST(no_update_is_lost) {
    const struct heddle_dim grid = {1, 1, 1}, block = {THREADS, 1, 1};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = _i ? "its" : "functional"}, NULL, 0);
    struct heddle_module *m = heddle_module_text(h, "add.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc_shared(h, sizeof(struct words));
    struct adder a = {.at = (struct words *)(uintptr_t)p};
    const uint32_t rounds = _i ? 1000 : 30000;
    const struct heddle_arg args[] = {{&p, sizeof p}, {&rounds, sizeof rounds}};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, add, &a), 0);
    while (!atomic_load(&a.runs)) {
    }
    ck_assert_msg(heddle_launch(h, m, "add", grid, block, 0, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
    atomic_store(&a.stop, true);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(a.at->word, (uint32_t)(a.n + THREADS * rounds));
    ck_assert_uint_eq(a.at->wide, a.n + THREADS * rounds);
    ck_assert_uint_eq(a.at->swapped, (uint32_t)(a.n + THREADS * rounds));
    heddle_close(h);
}
END_TEST

SUITE(host_atomics_beside_host) { TEST_LOOP(no_update_is_lost, 0, 2); }
