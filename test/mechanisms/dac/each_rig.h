#ifndef TEST_MECHANISMS_DAC_EACH_RIG_H
#define TEST_MECHANISMS_DAC_EACH_RIG_H
/* Fixture: runs kernels on one SM, checks the affine warp's hardware in each cycle (dac_watch.h), and compares the
 * statistics with the numbers that the check has counted. */
#include "dac_watch.h"
#include "test/every_model.h"

static struct heddle *h;
static struct watch seen;

static inline void open_with(const char *model, const char *config, const char *const *set) {
    char err[512];
    const struct sm_unit_row rows[] = {{&watch, &seen}, {&before, &seen}};
    const char *all[16] = {"gpu.sms=1", "gpu.poll=true"};
    for (int i = 0; set && set[i]; i++)
        all[i + 2] = set[i];
    if (h)
        heddle_close(h);
    h = context_open(&(struct heddle_options){.model = model, .config = config, .set = all, .cycle_limit = 10000000},
                     &(struct context_parts){.models = &model_tables, .units = rows, .n_units = 2}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}

static inline double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

static inline void check_figures(const char *what) {
    const struct {
        const char *name;
        uint64_t want;
    } rows[] = {{"dac.atq_cycles", seen.atq},
                {"dac.pwaq_cycles", seen.held[QUEUE_ADDRESS]},
                {"dac.pwpq_cycles", seen.held[QUEUE_PREDICATE]},
                {"dac.atq_full", seen.atq_full},
                {"dac.atq_max", seen.atq_max},
                {"dac.atq_accesses", seen.accesses},
                {"dac.locked_cycles", seen.locked},
                {"dac.locked_max", seen.locked_max},
                {"dac.lines", seen.lines},
                {"dac.lines_without_lock", seen.without},
                {"dac.records", seen.records},
                {"dac.records", seen.sent[QUEUE_ADDRESS]},
                {"dac.masks", seen.sent[QUEUE_PREDICATE]},
                {"dac.cta_cycles", seen.ctas},
                {"dac.cta_wait_cycles", seen.cta_waits},
                {"dac.wide_records", seen.wide},
                {"dac.spills", seen.spills},
                {"dac.pwaq_full", seen.full[QUEUE_ADDRESS]},
                {"dac.pwpq_full", seen.full[QUEUE_PREDICATE]},
                {"dac.pwaq_empty", seen.empty[QUEUE_ADDRESS]},
                {"dac.pwpq_empty", seen.empty[QUEUE_PREDICATE]},
                {"dac.address_cycles", seen.busy[QUEUE_ADDRESS]},
                {"dac.predicate_cycles", seen.busy[QUEUE_PREDICATE]},
                {"dac.predicates_cta", seen.compared[COMPARE_CTA]},
                {"dac.predicates_ends", seen.compared[COMPARE_ENDS] + seen.compared[COMPARE_CORNERS]},
                {"dac.predicates_lanes", seen.compared[COMPARE_LANES]}};
    ck_assert_msg(!seen.what[0], "%s: %s", what, seen.what);
    ck_assert_msg(!lines.what[0], "%s: %s", what, lines.what);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(stat(rows[i].name) == (double)rows[i].want, "%s: %s is %g, not %g", what, rows[i].name,
                      stat(rows[i].name), (double)rows[i].want);
}

/* Returns a base model with decoupling. Consecutive values of `turn` give one base model after another. */
static inline const char *model_in_turn(uint64_t turn) {
    const struct every_model *m = bases_with("+dac");
    return m->name[turn % (uint64_t)m->n];
}

static const char header[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                             ".reg .pred %p<3>; .reg .b32 %r<20>; .reg .b64 %a<9>;\n.local .align 16 .b8 depot[256];\n"
                             " ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x;\n";

/* Launches `ctas` CTAs on a buffer of words, and checks the statistics. In the first half of the buffer every word is
 * 1. In the second half, one of each 1024 words is 1, and the others are 0. The kernel's argument is the address
 * `offset` bytes after the start of the buffer. */
static inline void watched(const char *what, const char *model, const char *const *set, const char *body, uint32_t ctas,
                           uint32_t threads, uint64_t offset) {
    enum { BYTES = 1 << 19 };
    static char text[8192];
    static uint32_t ones[BYTES / 4];
    for (uint32_t i = 0; i < BYTES / 4; i++)
        ones[i] = i < BYTES / 8 || i % 1024 == 0;
    snprintf(text, sizeof text, "%s%s}\n", header, body);
    open_with(model, "fermi", set);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s: %s", what, heddle_error(h));
    uint64_t p = heddle_alloc(h, BYTES);
    heddle_write(h, p, ones, sizeof ones);
    p += offset;
    struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s: %.900s", what, heddle_error(h));
    ck_assert_double_eq(stat("dac.decoupled_kernels"), 1);
    check_figures(what);
}

static inline void teardown(void) {
    if (h)
        heddle_close(h);
    h = NULL;
}
#endif
