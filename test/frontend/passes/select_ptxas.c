/* Compares the machine instructions of our kernels with the counts of ptxas in test/data/ptxas_counts.tsv, which
 * scripts/ptxas_select.py prints. There, loops are not unrolled, and a division is counted along its usual path. */
#include "frontend/passes/pass.h"
#include "host/context.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PTXAS_REGISTERS = N_MACHINE_CLASSES, PTXAS_COLUMNS };

struct row {
    char arch[8], file[64], kernel[64];
    unsigned count[PTXAS_COLUMNS]; /* by enum machine_class; registers */
};

static bool next_row(FILE *f, struct row *r) {
    return fscanf(f, "%7s %63s %63s %u %u %u %u %u %u %u %u", r->arch, r->file, r->kernel, &r->count[MACHINE_ALU],
                  &r->count[MACHINE_FMA], &r->count[MACHINE_XU], &r->count[MACHINE_F64], &r->count[MACHINE_MEMORY],
                  &r->count[MACHINE_FLOW], &r->count[MACHINE_UNIFORM], &r->count[PTXAS_REGISTERS]) == 3 + PTXAS_COLUMNS;
}

/* Adds the counts of a kernel to `ours`. Returns the error of its registers. */
static double add_kernel(struct heddle *h, const struct row *r, unsigned ours[N_MACHINE_CLASSES]) {
    char path[96];
    uint32_t count[N_MACHINE_CLASSES];
    snprintf(path, sizeof path, "kernels/%s", r->file);
    struct heddle_module *m = heddle_module_file(h, path);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct program *p = module_program(h, m, r->kernel);
    ck_assert_msg(p != NULL, "%s", heddle_error(h));
    control_count(p, count);
    for (int c = 0; c < N_MACHINE_CLASSES; c++)
        ours[c] += count[c];
    return fabs(1 - (double)p->thread_regs / r->count[PTXAS_REGISTERS]);
}

static void expect_within(const char *what, unsigned ours, unsigned theirs, double share) {
    EXPECT(ours >= theirs * (1 - share) && ours <= theirs * (1 + share), "%s: %u machine instructions, %u of ptxas",
           what, ours, theirs);
}

/* An architecture with the preset of a card, and how far our counts may be from those of ptxas. */
static const struct {
    const char *arch, *preset;
    unsigned kernels;
    double arithmetic, memory, flow, registers;
} rows[] = {{"sm_70", "gv100", 114, 0.05, 0.05, 0.07, 0.10}, {"sm_75", "rtx2080ti", 114, 0.05, 0.05, 0.05, 0.135},
            {"sm_80", "a100", 115, 0.05, 0.05, 0.05, 0.10},  {"sm_86", "ampere", 115, 0.05, 0.05, 0.05, 0.10},
            {"sm_90", "h100", 115, 0.05, 0.05, 0.05, 0.105}, {"sm_120", "rtx5070ti", 115, 0.05, 0.05, 0.11, 0.10}};

/* The number of all instructions is within 5 % of ptxas' number, and so are special functions. On sm_70, so are the
 * multiplier and, within 6 %, the integer unit. `rows` has the bars for instructions of the integer, float and uniform units
 * together, for accesses, for flow (branches, barriers and exits), and for the mean error of registers. For sm_70,
 * ptxas writes a NOP before each barrier. On sm_75, ptxas adds a uniform register to 32-bit indices in addresses, which
 * saves registers in three kernels of bfs: 2.6 points of the mean. */
START_TEST(counts_are_close_to_those_of_ptxas) {
    char err[512];
    struct row r;
    unsigned ours[N_MACHINE_CLASSES] = {0}, theirs[PTXAS_COLUMNS] = {0}, all[2] = {0}, kernels = 0;
    double error = 0;
    static const char *const set[] = {"core.multiplier_adds=on", NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "its", .config = rows[_i].preset, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    FILE *f = fopen("test/data/ptxas_counts.tsv", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fscanf(f, "%*[^\n]"), 0);
    while (next_row(f, &r)) {
        if (strcmp(r.arch, rows[_i].arch) != 0)
            continue;
        error += add_kernel(h, &r, ours);
        for (int c = 0; c < PTXAS_COLUMNS; c++)
            theirs[c] += r.count[c];
        kernels++;
    }
    fclose(f);
    heddle_close(h);
    ck_assert_uint_eq(kernels, rows[_i].kernels);
    for (int c = 0; c < N_MACHINE_CLASSES; c++) {
        all[0] += ours[c];
        all[1] += theirs[c];
    }
    expect_within("all", all[0], all[1], 0.05);
    expect_within("arithmetic", ours[MACHINE_ALU] + ours[MACHINE_FMA] + ours[MACHINE_UNIFORM],
                  theirs[MACHINE_ALU] + theirs[MACHINE_FMA] + theirs[MACHINE_UNIFORM], rows[_i].arithmetic);
    if (strcmp(rows[_i].arch, "sm_70") == 0) {
        expect_within("integer unit", ours[MACHINE_ALU], theirs[MACHINE_ALU], 0.06);
        expect_within("multiplier", ours[MACHINE_FMA], theirs[MACHINE_FMA], 0.05);
    }
    expect_within("memory", ours[MACHINE_MEMORY], theirs[MACHINE_MEMORY], rows[_i].memory);
    expect_within("flow", ours[MACHINE_FLOW], theirs[MACHINE_FLOW], rows[_i].flow);
    EXPECT(error < rows[_i].registers * kernels, "registers: mean error %.3f", error / kernels);
    expect_within("special functions", ours[MACHINE_XU], theirs[MACHINE_XU], 0.05);
}
END_TEST

SUITE(frontend_passes_select_ptxas) {
    TEST_LOOP(counts_are_close_to_those_of_ptxas, 0, (int)(sizeof rows / sizeof rows[0]));
}
