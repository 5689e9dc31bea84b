#ifndef TEST_TIMING_MODERN_RIG_H
#define TEST_TIMING_MODERN_RIG_H
/* Test fixture: kernels with control bits set by hand on one SM of configs/ampere.cfg, with a record of the cycles in
 * which instructions issue. */
#include "host/context.h"
#include "isa/control_bits.h"
#include "isa/program.h"
#include "test/test.h"
#include "timing/sm/modern_ports.h"
#include "timing/sm/stages.h"
#include <stdio.h>
#include <string.h>

enum { RIG_CODE = 256, RIG_SLOTS = 65536, RIG_BYTES = 1 << 20 };
static struct {
    uint64_t cycle;
    uint32_t warp, pc;
} rig_slot[RIG_SLOTS];
static uint32_t rig_n;
static struct heddle *rig;
static uint32_t rig_launches;
/* the control bits of the instructions of the body, from 0 on, and the PC of the first one */
static struct control_bits rig_bits[RIG_CODE];
static uint32_t rig_first;
static struct control_bits rig_control[RIG_CODE];
static bool rig_no_bits;  /* true: the program has no control bits */
static bool rig_compiled; /* true: the program keeps the control bits of its assembly */
static bool rig_unseen;   /* true: no unit observes instructions, so there is no record and the fast path runs */

static void *rig_make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}
static void rig_issued(void *u, struct sm *sm, const struct sm_issued *i) {
    (void)u, (void)sm;
    if (i->phase != ISSUE_PERFORMED && rig_n < RIG_SLOTS) {
        rig_slot[rig_n].cycle = i->cycle;
        rig_slot[rig_n].warp = i->warp;
        rig_slot[rig_n++].pc = i->pc;
    }
}
/* Gives the program its control bits. */
static bool rig_launch(void *u, struct sm *sm, uint64_t now) {
    struct program *p = (struct program *)(uintptr_t)sm->program->program;
    (void)u, (void)now;
    rig_n = 0;
    rig_launches++;
    if (rig_compiled)
        return true;
    ck_assert_uint_le(p->n, RIG_CODE);
    for (uint32_t i = 0; i < p->n; i++) {
        rig_control[i] = i >= rig_first && i + 1 < p->n ? rig_bits[i - rig_first] : CONTROL_NONE;
        sm->program->inst[i].limits = timed_limits_of(&rig_control[i]);
        sm->program->inst[i].flags &= ~(uint32_t)TIMED_PLAIN;
        sm->program->inst[i].flags |= timed_plain_of(&sm->program->inst[i], &rig_control[i]);
    }
    p->control = rig_no_bits ? NULL : rig_control;
    for (uint32_t i = 0; i < p->n; i++)
        sm->program->inst[i].ports = modern_ports_of(p, &sm->cfg->core, &sm->program->inst[i].regs, i);
    return true;
}
static const struct sm_unit_ops rig_unit = {
    .name = "slots", .make = rig_make, .issued = rig_issued, .launch = rig_launch};

static const struct sm_unit_ops rig_quiet_unit = {.name = "bits", .make = rig_make, .launch = rig_launch};

static void rig_setup(void) {
    rig = NULL;
    rig_no_bits = rig_unseen = rig_compiled = false;
    for (int i = 0; i < RIG_CODE; i++)
        rig_bits[i] = CONTROL_NONE;
}
static void rig_teardown(void) { heddle_close(rig); }

/* Runs `body` as a kernel of one CTA, twice: in the second launch, all fetches and constants hit, and the record is of
 * this launch. Registers: r0-r39, f0-f39, d0-d39, q0-q39 (64 bits), a (address of the buffer), v (4 registers). */
static void rig_run(const char *const *set, const char *body, uint32_t threads, int launches) {
    static char text[65536];
    char err[512] = "";
    int dummy;
    const struct sm_unit_row row = {rig_unseen ? &rig_quiet_unit : &rig_unit, &dummy};
    heddle_close(rig);
    rig = context_open(
        &(struct heddle_options){.model = "spe", .config = "ampere", .set = set, .threads = 1, .cycle_limit = 1000000},
        &(struct context_parts){.models = &model_tables, .units = &row, .n_units = 1}, err, sizeof err);
    ck_assert_msg(rig != NULL, "%s", err);
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_80\n.address_size 64\n.const .align 16 .b32 k0[64];\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<40>, %%v<8>; "
             ".reg .b64 %%a, %%q<40>; .reg .f32 %%f<40>; .reg .f64 %%d<40>; .shared .align 16 .b32 s[1024];\n"
             "ld.param.u64 %%a,[p];\n%s\nret;\n}\n",
             body);
    struct heddle_module *m = heddle_module_text(rig, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(rig));
    uint64_t p = heddle_alloc(rig, RIG_BYTES);
    ck_assert_int_eq(heddle_clear(rig, p, RIG_BYTES), HEDDLE_OK);
    const struct heddle_arg args[] = {{&p, 8}};
    for (int i = 0; i < launches; i++)
        ck_assert_msg(heddle_launch(rig, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0,
                                    args, 1) == HEDDLE_OK,
                      "%s", heddle_error(rig));
}
static inline double rig_stat(const char *name) { return heddle_stat(rig, -1, name); }

/* Returns the cycle in which the warp first issued instruction `i` of the body. */
static inline uint64_t rig_at(uint32_t warp, uint32_t i) {
    for (uint32_t k = 0; k < rig_n; k++)
        if (rig_slot[k].warp == warp && rig_slot[k].pc == rig_first + i)
            return rig_slot[k].cycle;
    ck_abort_msg("warp %u, instruction %u: never issued", warp, i);
    return 0;
}
static inline void rig_print(void) {
    for (uint32_t i = 0; i < rig_n; i++)
        printf("%5u warp %u pc %2u\n", (unsigned)rig_slot[i].cycle, rig_slot[i].warp, rig_slot[i].pc);
}

enum { WARP = 32 };
static const char *const rig_one_sm[] __attribute__((unused)) = {"gpu.sms=1", "core.assembly=off", NULL};

/* Appends `n` instructions `line`, in which %d is the number of the instruction, to the body. */
static inline uint32_t rig_repeat(char *body, const char *line, uint32_t from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        sprintf(body + strlen(body), line, from + i, from + i, from + i);
    return from + n;
}

/* Begins a body with four instructions. While they issue, ld.param ends, and all warps become ready, so that all warps
 * issue the next instruction in one cycle. */
static inline uint32_t rig_lead_in(char *body) {
    *body = 0;
    rig_first = 1;
    rig_repeat(body, "add.f32 %%f38, %%f39, %%f39;\n", 0, 4);
    for (int i = 0; i < 4; i++)
        rig_bits[i].stall = 15;
    return 4;
}
#endif
