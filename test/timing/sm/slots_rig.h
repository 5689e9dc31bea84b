#ifndef TEST_TIMING_SLOTS_RIG_H
#define TEST_TIMING_SLOTS_RIG_H
/* Test fixture: a kernel on configs/tiny.cfg, with a record of its issue slots: cycle, warp, PC and lanes. */
#include "host/context.h"
#include "test/test.h"
#include "timing/sm/unit.h"
#include <stdio.h>

enum { RIG_PCS = 64, RIG_SLOTS = 65536, RIG_BYTES = 65536 };
struct rig_slot {
    uint64_t cycle;
    uint32_t warp, pc, line;
    lanemask_t lanes;
};
static struct rig_slot rig_slot[RIG_SLOTS];
static uint32_t rig_n;
static bool rig_missed[RIG_PCS]; /* by PC: true if one of the instruction's results missed the L1 */
static struct heddle *rig;
static uint64_t rig_buffer;

static void *rig_make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}
static void rig_issued(void *u, struct sm *sm, const struct sm_issued *i) {
    (void)u, (void)sm;
    if (i->phase != ISSUE_PERFORMED && rig_n < RIG_SLOTS)
        rig_slot[rig_n++] = (struct rig_slot){.cycle = i->cycle, .warp = i->warp, .pc = i->pc, .lanes = i->lanes};
}
static void rig_written(void *u, struct sm *sm, const struct sm_written *r) {
    (void)u, (void)sm;
    if (r->pc < RIG_PCS)
        rig_missed[r->pc] |= r->missed;
}
static const struct sm_unit_ops rig_unit = {
    .name = "slots", .make = rig_make, .issued = rig_issued, .written = rig_written};

static void rig_setup(void) { rig = NULL; }
static void rig_teardown(void) { heddle_close(rig); }
static inline double rig_stat(const char *name) { return heddle_stat(rig, 0, name); }

/* Runs `body` as a kernel. Registers: r0-r19; a to d (64 bits; a is the address of the buffer); f0-f3; predicates q,
 * o and w. %t is the thread, %l the lane, %q is true for lanes below 16. */
static void rig_run(const char *model, const char *const *set, const char *body, uint32_t threads) {
    static char text[65536];
    char err[512] = "";
    int dummy;
    const struct sm_unit_row row = {&rig_unit, &dummy};
    heddle_close(rig);
    rig_n = 0;
    memset(rig_missed, 0, sizeof rig_missed);
    rig = context_open(
        &(struct heddle_options){.model = model, .config = "tiny", .set = set, .threads = 1, .cycle_limit = 1000000},
        &(struct context_parts){.models = &model_tables, .units = &row, .n_units = 1}, err, sizeof err);
    ck_assert_msg(rig != NULL, "%s", err);
    snprintf(
        text, sizeof text,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<20>, %%t, "
        "%%l; .reg .b64 %%a, %%b, %%c, %%d; .reg .f32 %%f<4>; .reg .pred %%q, %%o, %%w; .shared .b32 s[64];\n"
        "ld.param.u64 %%a,[p]; mov.u32 %%t,%%tid.x; mov.u32 %%l,%%laneid; setp.lt.u32 %%q,%%l,16; "
        "add.u64 %%a,%%a,0;\n%s\nret;\n}\n",
        body);
    struct heddle_module *m = heddle_module_text(rig, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(rig));
    uint64_t p = rig_buffer = heddle_alloc(rig, RIG_BYTES);
    ck_assert_int_eq(heddle_clear(rig, p, RIG_BYTES), HEDDLE_OK);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(rig, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(rig));
}

/* Prints the issue slots, as a help for writing tests. */
static inline void rig_print(void) {
    for (uint32_t i = 0; i < rig_n; i++)
        printf("%5u warp %u pc %2u lanes %08x\n", (unsigned)rig_slot[i].cycle, rig_slot[i].warp, rig_slot[i].pc,
               (rowmask_t)rig_slot[i].lanes);
}

/* Returns the cycle in which these lanes of the warp first issued the instruction. Fails if they did not issue it. */
static inline uint64_t rig_at(uint32_t warp, uint32_t pc, lanemask_t lanes) {
    for (uint32_t i = 0; i < rig_n; i++)
        if (rig_slot[i].warp == warp && rig_slot[i].pc == pc && rig_slot[i].lanes == lanes)
            return rig_slot[i].cycle;
    ck_abort_msg("warp %u, pc %u, lanes %08x: never issued", warp, pc, (rowmask_t)lanes);
    return 0;
}
/* Returns the number of times that the lane issued the instruction. */
static inline uint32_t rig_times(uint32_t warp, uint32_t pc, uint32_t lane) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < rig_n; i++)
        n += rig_slot[i].warp == warp && rig_slot[i].pc == pc && rig_slot[i].lanes >> lane & 1;
    return n;
}
#endif
