/* Tests the context that a pass receives, the notes that it reports, and where these notes are printed. The passes are
 * minimal examples. */
#include "test/toys/passes.h"
#include "host/context.h"
#include "test/every_model.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"

static const char text[] = ".version 7.0 .target sm_70 .address_size 64\n"
                           ".visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p1;\n"
                           "ld.param.u64 %d1, [p];\n"
                           "mov.u32 %r1, 7;\n"
                           "mov.u32 %r1, %r1;\n"
                           "setp.eq.u32 %p1, %r1, 7;\n"
                           "@%p1 mov.u32 %r1, %r1;\n"
                           "st.global.u32 [%d1], %r1; ret; }\n";

static const struct mechanism toy = {.name = "toy", .help = "a toy", .kind = MECHANISM_EXTENSION};
static const struct mechanism *const toys[] = {&toy, NULL};

static struct heddle *open_with(const char *model, const struct pass *table, struct heddle_module **m) {
    char err[512];
    static const struct mechanism *listed[MAX_LISTED_MECHANISMS];
    struct model_tables tables = {bases_and(toys, listed), NULL};
    struct heddle *h = context_open(&(struct heddle_options){.model = model},
                                    &(struct context_parts){.models = &tables, .passes = table}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    *m = heddle_module_text(h, "toy.ptx", text, strlen(text));
    ck_assert_msg(*m != NULL, "%s", heddle_error(h));
    return h;
}

/* Returns the output of `inspect --pass`. The caller frees it. */
static char *show(const char *model, const char *pass, const struct pass *table) {
    struct heddle_module *m;
    struct heddle *h = open_with(model, table, &m);
    char *shown = NULL;
    size_t size;
    FILE *f = open_memstream(&shown, &size);
    ck_assert_msg(heddle_listing(h, m, "k", pass, f) == HEDDLE_OK, "%s", heddle_error(h));
    fclose(f);
    heddle_close(h);
    return shown;
}

/* The kernel has three moves; the pass removes two, and its notes give their lines. */
START_TEST(a_toy_pass_works) {
    static struct pass table[MAX_PASSES];
    passes_with(table, &self_moves, "postdom");
    char *shown = show("its+toy", "self_moves", table);
    ck_assert_msg(occurrences(shown, "  mov.u32") + occurrences(shown, "mov.u32 %r1, 0x7") == 2, "%s",
                  shown); /* one move remains, and both occurrences() calls count it */
    ck_assert_msg(strstr(shown, "note: line 5: taken out: it moves a register to itself\n"
                                "note: line 7: taken out: it moves a register to itself\n"),
                  "%s", shown);
    free(shown);
}
END_TEST

/* Under a model without the extension, the pass leaves the program unchanged and reports this in a note. */
START_TEST(a_pass_runs_under_its_models_only) {
    static struct pass table[MAX_PASSES];
    passes_with(table, &self_moves, "postdom");
    char *shown = show("dpe", "self_moves", table), *after = show("dpe", NULL, table), *plain = show("dpe", NULL, NULL);
    ck_assert_str_eq(shown, "pass 'self_moves' is for models with the extension 'toy'; model 'dpe' does without\n");
    ck_assert_str_eq(after, plain);
    char *barriers = show("spe", "barriers", NULL);
    ck_assert_str_eq(barriers,
                     "pass 'barriers' is for models with convergence barriers (its, si); model 'spe' does without\n");
    free(shown);
    free(after);
    free(plain);
    free(barriers);
}
END_TEST

static bool keep_guarded(const void *config, const char *key, double *value) {
    if (strcmp(key, "toy.keep_guarded") != 0)
        return false;
    *value = *(const double *)config;
    return true;
}

/* A pass receives options, and reports in a note why it left a candidate unchanged. */
START_TEST(a_pass_reads_options) {
    static struct pass table[MAX_PASSES];
    static const char *const names[] = {"toy", NULL};
    double on = _i;
    struct lowered *l = lower_text(text, "k");
    passes_with(table, &self_moves, "postdom");
    char *shown = NULL;
    size_t size;
    FILE *f = open_memstream(&shown, &size);
    struct lower_options o = {.context = {.extensions = names, .option = keep_guarded, .config = &on},
                              .passes = table,
                              .dump_after = "self_moves",
                              .dump_to = f};
    struct program *p = frontend_lower(l->image, "k", &o);
    fclose(f);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(p->n, l->program->n - 2 + (uint32_t)_i);
    ck_assert_msg(!!strstr(shown, "note: line 7: left alone: it has a guard") == _i, "%s", shown);
    program_free(p);
    free(shown);
    lowered_free(l);
}
END_TEST

/* A pass reads the configuration's options by key: a number, a truth value, a choice, a text, and a key that does not
 * exist. */
START_TEST(options_are_numbers) {
    struct config c;
    double v = 0;
    config_default(&c);
    ck_assert(config_number(&c, "sm.warps", &v));
    ck_assert_double_eq(v, c.sm.warps);
    char err[256];
    ck_assert(config_set(&c, "dpe.forwarding=on", err, sizeof err) && config_number(&c, "dpe.forwarding", &v));
    ck_assert_double_eq(v, 1);
    ck_assert(config_set(&c, "dpe.scheduler=constrained", err, sizeof err) && config_number(&c, "dpe.scheduler", &v));
    ck_assert_double_eq(v, 1); /* the option's value is the second choice, which has index 1 */
    ck_assert(!config_number(&c, "no.option", &v));
    struct pass_context none = {0};
    ck_assert_double_eq(pass_option(&none, "sm.warps", 3), 3);
    ck_assert(!pass_extension(&none, "toy"));
}
END_TEST

/* The pass that drops unreachable instructions reports this in a note. */
START_TEST(dropped_instructions_are_noted) {
    static const char dead[] =
        ".version 7.0 .target sm_70 .address_size 64\n"
        ".visible .entry k() { .reg .b32 %r<4>;\nbra L;\nmov.u32 %r1, 1;\nmov.u32 %r2, 1;\nL: ret; }\n";
    char *shown = NULL;
    size_t size;
    FILE *f = open_memstream(&shown, &size);
    struct lowered *l = lower_text(dead, "k");
    program_free(frontend_lower(l->image, "k", &(struct lower_options){.dump_after = "cfg", .dump_to = f}));
    fclose(f);
    ck_assert_msg(strstr(shown, "note: line 4: dropped 2 unreachable instructions\n"), "%s", shown);
    free(shown);
    lowered_free(l);
}
END_TEST

/* `inspect --pass` also shows analyses. The kernel below is one block; line numbers refer to its text. */
START_TEST(analyses_are_shown) {
    char *dom = show("spe", "dominators", NULL), *uses = show("spe", "defuse", NULL),
         *loops = show("spe", "loops", NULL);
    ck_assert_msg(strstr(dom, "block 0: lines 3 to 8  idom -  ipdom -"), "%s", dom);
    /* the store reads the value of the move or the value of the guarded move */
    ck_assert_msg(strstr(uses, "%r1 from 2 4\n"), "%s", uses);
    ck_assert_str_eq(loops, "entry k\n");
    free(dom);
    free(uses);
    free(loops);
}
END_TEST

SUITE(frontend_passes) {
    TEST(a_toy_pass_works);
    TEST(a_pass_runs_under_its_models_only);
    TEST_LOOP(a_pass_reads_options, 0, 2);
    TEST(options_are_numbers);
    TEST(dropped_instructions_are_noted);
    TEST(analyses_are_shown);
}
