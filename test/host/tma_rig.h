#ifndef TEST_HOST_TMA_RIG_H
#define TEST_HOST_TMA_RIG_H
/* A kernel of one CTA, in which one thread executes bulk copies or tensor copies. */
#include "host/heddle.h"
#include "isa/tensormap.h"
#include "test/test.h"
#include <stdio.h>

enum { SHARED = 16384, TENSOR = 1 << 16, THREADS = 64, DIMS = 5 };

struct rig {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t tensor, out;
};

static inline void rig_open_set(struct rig *r, const char *model, const char *config, bool check, const char *option) {
    const char *const set[] = {"sm.shared_bytes=49152", option, NULL};
    char err[512] = "";
    r->h = heddle_open(
        &(struct heddle_options){.model = model, .config = config, .set = set, .cycle_limit = 10000000, .check = check},
        err, sizeof err);
    ck_assert_msg(r->h != NULL, "%s", err);
    r->tensor = heddle_alloc(r->h, TENSOR);
    r->out = heddle_alloc(r->h, SHARED);
    r->m = NULL;
}

static inline void rig_open_checked(struct rig *r, const char *model, const char *config, bool check) {
    rig_open_set(r, model, config, check, NULL);
}

static inline void rig_open(struct rig *r, const char *model, const char *config) {
    rig_open_checked(r, model, config, false);
}

/* Runs a kernel of one CTA: the thread 0 fills shared memory from `out`, all threads wait, thread 0 executes `body`,
 * and all threads write shared memory to `out`. Registers: %r1 shared memory, %r2 mbarrier, %d1 map, %d2 tensor. */
static inline enum heddle_status rig_run(struct rig *r, const char *body, const unsigned char map[TENSOR_MAP_BYTES]) {
    static char text[16384];
    snprintf(text, sizeof text,
             ".version 8.7\n.target sm_100a\n.address_size 64\n"
             ".visible .entry k(.param .align 64 .b8 m[128], .param .u64 t, .param .u64 o)\n{\n"
             ".reg .b16 %%h<8>; .reg .b32 %%r<32>; .reg .b64 %%d<16>; .reg .pred %%q<4>;\n"
             ".shared .align 1024 .b8 s[%d]; .shared .align 8 .b8 b[16];\n"
             "mov.b64 %%d1,m; cvta.param.u64 %%d1,%%d1; ld.param.u64 %%d2,[t]; ld.param.u64 %%d3,[o];\n"
             "mov.u32 %%r1,s; mov.u32 %%r2,b; mov.u32 %%r3,%%tid.x; setp.ne.u32 %%q1,%%r3,0;\n"
             "mul.wide.u32 %%d4,%%r3,4; add.u64 %%d3,%%d3,%%d4; mad.lo.u32 %%r4,%%r3,4,%%r1; mov.u32 %%r5,0;\n"
             "IN:\n ld.global.u32 %%r6,[%%d3]; st.shared.u32 [%%r4],%%r6; add.u64 %%d3,%%d3,%d; add.u32 %%r4,%%r4,%d;\n"
             "add.u32 %%r5,%%r5,%d; setp.lt.u32 %%q2,%%r5,%d;\n @%%q2 bra IN;\n"
             "fence.proxy.async.shared::cta; bar.sync 0;\n @%%q1 bra OUT;\n"
             "mbarrier.init.shared::cta.b64 [%%r2],1; fence.mbarrier_init.release.cluster;\n"
             "{\n%s\n}\nOUT:\n bar.sync 0; sub.u64 %%d3,%%d3,%d; sub.u32 %%r4,%%r4,%d; mov.u32 %%r5,0;\n"
             "BACK:\n ld.shared.u32 %%r6,[%%r4]; st.global.u32 [%%d3],%%r6; add.u64 %%d3,%%d3,%d; add.u32 "
             "%%r4,%%r4,%d;\n add.u32 %%r5,%%r5,%d; setp.lt.u32 %%q2,%%r5,%d;\n @%%q2 bra BACK;\n ret;\n}\n",
             SHARED, 4 * THREADS, 4 * THREADS, 4 * THREADS, SHARED, body, SHARED, SHARED, 4 * THREADS, 4 * THREADS,
             4 * THREADS, SHARED);
    r->m = heddle_module_text(r->h, "k.ptx", text, strlen(text));
    if (!r->m)
        return HEDDLE_USAGE;
    const struct heddle_arg args[] = {{map, TENSOR_MAP_BYTES}, {&r->tensor, 8}, {&r->out, 8}};
    const struct heddle_dim one = {1, 1, 1}, block = {THREADS, 1, 1};
    return heddle_launch(r->h, r->m, "k", one, block, 0, args, 3);
}

static inline void run_ok(struct rig *r, const char *body, const unsigned char map[TENSOR_MAP_BYTES]) {
    const enum heddle_status s = rig_run(r, body, map);
    ck_assert_msg(s == HEDDLE_OK, "%s\n%.900s", body, heddle_error(r->h));
}

#define WAIT  "W: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q2,[%r2],0;\n @!%q2 bra W;\n"
#define FLUSH "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
#endif
