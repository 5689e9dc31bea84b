/* Tests each row of the semantics table at each place of a kernel: first, last, alone, in a loop, twice, for one
 * lane, for no lane, and in divergent code. Compares status and memory with the interpreter, under every model on
 * every preset, with and without polling, with one host thread or two. */
#include "test/every_model.h"
#include "test/test.h"
#include "test/timing/row_kernel.h"
#include <stdio.h>

enum { LAUNCHES = 2 };
static struct heddle *interpreter, *timed[MAX_MODELS];
static char text[ROW_TEXT];

static const char *const presets[] = {"fermi", "tiny",  "turing",  "volta-classic", "turing-rtx2060", "fermi-gpgpusim",
                                      "gt200", "pepsc", "pepsc-8", "pepsc-16",      "pepsc-64"};
enum { N_PRESETS = sizeof presets / sizeof presets[0] };

static void setup(void) {
    char err[512] = "";
    memset(timed, 0, sizeof timed);
    interpreter = heddle_open(&(struct heddle_options){.model = "functional", .cycle_limit = 100000}, err, sizeof err);
    ck_assert_msg(interpreter != NULL, "%s", err);
}

static void teardown(void) {
    heddle_close(interpreter);
    for (int m = 0; m < MAX_MODELS; m++)
        heddle_close(timed[m]);
}

/* Returns a machine with few SMs, because only the behaviour of an SM matters. Polling and the number of host
 * threads vary with model and preset, so that each model runs with and without polling, and with one thread and with
 * two. */
static struct heddle *machine(int preset, int model) {
    char err[512] = "";
    const char *const set[] = {"gpu.sms=2", "sm.registers=65536", (preset + model) % 3 == 0 ? "gpu.poll=true" : NULL,
                               NULL};
    if (!timed[model])
        timed[model] = heddle_open(&(struct heddle_options){.model = mixed_models()->name[model],
                                                            .config = presets[preset],
                                                            .set = set,
                                                            .threads = 1 + (uint32_t)(preset + model / 2) % 2,
                                                            .cycle_limit = 300000},
                                   err, sizeof err);
    ck_assert_msg(timed[model] != NULL, "%s on %s: %s", mixed_models()->name[model], presets[preset], err);
    return timed[model];
}

/* Returns true if the outcome is correct. An outcome must equal the outcome in the interpreter, with these exceptions:
 * - if lanes wait for other lanes in divergent code, the result depends on the model, but the launch must end
 * - if several threads fault, models differ in which thread faults first
 * - decoupling drops a load of constants whose result is not used, so a fault of this load does not occur */
static bool fine(const struct isa_row *row, const struct row_end *want, const struct row_end *got, bool dac) {
    if (strstr(got->error, "stands still") || strstr(got->error, "the limit is"))
        return false;
    if (row_meets_others(row) || (dac && row->kind == K_LOAD && want->status == HEDDLE_FAULT))
        return true;
    return got->status == want->status && (want->status != HEDDLE_OK || memcmp(got->data, want->data, ROW_BYTES) == 0);
}

static void try(const struct isa_row *row, const char *opcode, const struct decoded *d, int place, int preset, int m) {
    static struct row_end want, got;
    row_kernel(text, opcode, d, (enum row_place)place);
    row_run(interpreter, text, d, LAUNCHES, &want);
    if (want.status == HEDDLE_USAGE)
        return;
    row_run(machine(preset, m), text, d, LAUNCHES, &got);
    EXPECT(fine(row, &want, &got, strstr(mixed_models()->name[m], "+dac")),
           "%s %s under %s on %s: %d %s; in the interpreter: %d %s\n%s", opcode, row_place_names[place],
           mixed_models()->name[m], presets[preset], got.status, got.error, want.status, want.error, text);
}

static bool has_space(const struct isa_row *row) {
    return row->kind == K_LOAD || row->kind == K_STORE || row->kind == K_ATOM || row->kind == K_PREFETCH;
}

/* To save time, a row runs in AT_ONCE places only, and the next row, which is usually similar, runs in the next
 * places. Each place uses another preset and another model. Of PLAIN arithmetic rows, one is tested. With
 * HEDDLE_EVERY all rows are tested. */
START_TEST(rows_end_as_in_the_interpreter) {
    enum { SPACES = 6, PLAIN = 16, AT_ONCE = 1 };
    static const char *const spaces[SPACES] = {"", ".global", ".shared", ".local", ".const", ".param"};
    uint32_t n;
    int turn = 0, tried = 0;
    const struct isa_row *all = isa_all_rows(&n);
    for (uint32_t i = 0; i < n; i++) {
        bool plain = all[i].kind == K_LANE || all[i].kind == K_CVT;
        if (row_left_out(&all[i]) || (plain && i % PLAIN != 0 && !test_every()))
            continue;
        for (int s = 0; s < (has_space(&all[i]) ? SPACES : 1); s++, turn++) {
            struct decoded d;
            char opcode[ROW_NAME];
            bool writes = all[i].kind == K_STORE || all[i].kind == K_ATOM;
            if ((writes && s >= 4) || !row_spell(&all[i], spaces[s], opcode, &d))
                continue;
            for (int k = 0; k < AT_ONCE; k++) {
                int place = (AT_ONCE * turn + k) % N_ROW_PLACES;
                int model = (turn / N_PRESETS + 5 * place) % mixed_models()->n;
                if ((turn + place) % N_PRESETS != _i)
                    continue;
                try(&all[i], opcode, &d, place, _i, model);
                tried++;
            }
        }
    }
    ck_assert_int_gt(tried, 50);
}
END_TEST

SUITE(timing_row_places) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(rows_end_as_in_the_interpreter, 0, N_PRESETS);
}
