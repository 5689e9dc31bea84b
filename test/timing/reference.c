/* Compares cycles with the reference simulator (test/reference/), for each case of three tables. These tables have the
 * reference's cycles for fermi-gpgpusim; peers.tsv has its cycles for turing-gpgpusim and volta-gpgpusim. Only the mean
 * error and the correlation have bounds, so a single case may change. */
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARGS = 8, FIELD = 256 };

/* One line of a table. */
struct row {
    char name[FIELD], kernel[FIELD], grid[FIELD], block[FIELD], shared[FIELD], args[FIELD];
    double cycles;
};

static bool read_row(FILE *f, struct row *r) {
    char line[2048], cycles[FIELD];
    if (!fgets(line, sizeof line, f))
        return false;
    int n = sscanf(line, "%255[^\t]\t%255[^\t]\t%255[^\t]\t%255[^\t]\t%255[^\t]\t%255[^\t]\t%255[^\t]", r->name,
                   r->kernel, r->grid, r->block, r->shared, r->args, cycles);
    ck_assert_msg(n == 7, "%s", line);
    r->cycles = strtod(cycles, NULL);
    return true;
}

static struct heddle_dim dim(const char *text) {
    struct heddle_dim d = {1, 1, 1};
    ck_assert_int_ge(sscanf(text, "%u,%u,%u", &d.x, &d.y, &d.z), 1);
    return d;
}

static unsigned registers_of(const char *kernel) {
    char name[FIELD];
    unsigned n;
    FILE *f = fopen("test/reference/registers.tsv", "r");
    ck_assert_ptr_nonnull(f);
    while (fscanf(f, "%255s %u", name, &n) == 2)
        if (strcmp(name, kernel) == 0) {
            fclose(f);
            return n;
        }
    fclose(f);
    ck_abort_msg("registers.tsv has no '%s'", kernel);
    return 0;
}

/* Reads arguments in the form of `heddle run`: "-a zero:4096 -a s32:64". Returns their number. */
static int arguments(struct heddle *h, const char *text, struct heddle_arg *args, uint64_t *value) {
    char kind[FIELD];
    double number;
    int n = 0, used;
    for (; sscanf(text, " -a %255[^:]:%lf%n", kind, &number, &used) == 2; text += used, n++) {
        ck_assert_int_lt(n, ARGS);
        args[n] = (struct heddle_arg){&value[n], 4};
        value[n] = (uint64_t)(int64_t)number;
        float single = (float)number;
        if (strcmp(kind, "f32") == 0)
            memcpy(&value[n], &single, sizeof single);
        else if (strcmp(kind, "f64") == 0)
            memcpy(&value[n], &number, sizeof number);
        else if (strcmp(kind, "zero") == 0)
            value[n] = heddle_alloc(h, (uint64_t)number);
        if (strcmp(kind, "f64") == 0 || strcmp(kind, "zero") == 0)
            args[n].bytes = 8;
        if (strcmp(kind, "zero") != 0)
            continue;
        void *zeros = calloc(1, (size_t)number);
        ck_assert_int_eq(heddle_write(h, value[n], zeros, (uint64_t)number), HEDDLE_OK);
        free(zeros);
    }
    return n;
}

/* Returns the cycles of a case in a column of peers.tsv; 0 if there are none. */
static double peer_cycles(const char *name, int column) {
    char line[FIELD], found[FIELD], cycles[2][FIELD];
    FILE *f = fopen("test/reference/peers.tsv", "r");
    ck_assert_ptr_nonnull(f);
    double value = 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%255s %255s %255s", found, cycles[0], cycles[1]) == 3 && strcmp(found, name) == 0)
            value = strtod(cycles[column], NULL);
    fclose(f);
    return value;
}

static double cycles_of(const struct row *r, const char *ptx, const char *preset) {
    char err[512] = "", registers[64];
    snprintf(registers, sizeof registers, "sm.thread_registers=%u", registers_of(r->kernel));
    const char *set[] = {registers, "gpu.launch_latency=0", NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "spe", .config = preset, .set = set, .threads = 1},
                                   err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, ptx);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    struct heddle_arg args[ARGS];
    uint64_t value[ARGS];
    int n = arguments(h, r->args, args, value);
    ck_assert_msg(heddle_launch(h, m, r->kernel, dim(r->grid), dim(r->block), (uint32_t)atoi(r->shared), args, n) ==
                      HEDDLE_OK,
                  "%s: %s", r->name, heddle_error(h));
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

static const char *const presets[] = {"turing-gpgpusim", "volta-gpgpusim", "fermi-gpgpusim"};
enum { TURING, VOLTA, FERMI };

/* Returns the mean absolute error of a table on a preset. Cycles are those of the table for FERMI, else those of
 * peers.tsv; a case that is not there is left out. Sets *correlation to the correlation of the logarithms of both cycle
 * counts. */
static double mean_error(const char *table, const char *ptx, int preset, int cases, double *correlation) {
    double sum = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    int n = 0;
    struct row r;
    FILE *f = fopen(table, "r");
    ck_assert_ptr_nonnull(f);
    for (ck_assert(read_row(f, &r)); read_row(f, &r);) { /* the first line names the columns */
        if (preset != FERMI && (r.cycles = peer_cycles(r.name, preset)) <= 0)
            continue;
        n++;
        double cycles = cycles_of(&r, ptx, presets[preset]), x = log(cycles), y = log(r.cycles);
        sum += fabs(cycles - r.cycles) / r.cycles;
        sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
    }
    fclose(f);
    ck_assert_int_eq(n, cases);
    *correlation = (n * sxy - sx * sy) / sqrt((n * sxx - sx * sx) * (n * syy - sy * sy));
    return sum / n;
}

static const struct {
    const char *cases, *ptx;
} tables[] = {{"test/reference/reference.tsv", "test/reference/kernels.ptx"},
              {"test/reference/kinds.tsv", "test/reference/kinds.ptx"},
              {"test/reference/more.tsv", "test/reference/more.ptx"}};

/* The bounds on the mean error are tight enough to fail if an option loses its effect. On fermi-gpgpusim, the errors
 * are 0.99, 2.07 and 2.23 %; without peer.sched_alternate, they are 1.6, 4.3 and 2.9 %. On turing-gpgpusim, they are
 * 1.15, 5.15 and 1.86 %; without peer.pipe_ends, the first two are 1.3 and 5.6 %; without collector.shared, they are
 * 5.2, 7.3 and 5.9 %. On volta-gpgpusim, they are 0.9, 3.2 and 2.2 %. */
static const struct {
    int preset, table, cases;
    double error, correlation;
} rows[] = {{FERMI, 0, 26, 0.012, 0.9998},  {FERMI, 1, 28, 0.023, 0.999},  {FERMI, 2, 17, 0.025, 0.9965},
            {TURING, 0, 26, 0.013, 0.9998}, {TURING, 1, 28, 0.056, 0.995}, {TURING, 2, 17, 0.023, 0.9985},
            {VOLTA, 0, 24, 0.010, 0.9995},  {VOLTA, 1, 27, 0.037, 0.998},  {VOLTA, 2, 17, 0.028, 0.9985}};

START_TEST(cycles_are_near) {
    if (LEAST_TABLES) {
        test_skip("the reference's cycles are of a machine with its own table sizes");
        return;
    }
    double correlation, error = mean_error(tables[rows[_i].table].cases, tables[rows[_i].table].ptx, rows[_i].preset,
                                           rows[_i].cases, &correlation);
    EXPECT(error < rows[_i].error, "%s: %.4f", presets[rows[_i].preset], error);
    EXPECT(correlation > rows[_i].correlation, "%s: %.5f", presets[rows[_i].preset], correlation);
}
END_TEST

SUITE(timing_reference) { TEST_LOOP(cycles_are_near, 0, 9); }
