/* Tests the roofline by kind of operation in a report (host/report/report_machines.c). The test makes the database rows
 * itself. */
#include "report_rig.h"

enum { CYCLES, F32_ADD, F32_MUL, F32_FMA, F64, INT, INT_MUL, SFU, READ, WRITE, N_NAMES, N_OPTIONS = 15 };
static char *names[N_NAMES] = {T("gpu.cycles"),      T("op.f32_add"),      T("op.f32_mul"), T("op.f32_fma"),
                               T("op.f64"),          T("op.int"),          T("op.int_mul"), T("op.sfu"),
                               T("dram.read_bytes"), T("dram.write_bytes")},
            *options[N_OPTIONS] = {T("gpu.sms"),
                                   T("clock.core_mhz"),
                                   T("clock.dram_mhz"),
                                   T("dram.channels"),
                                   T("dram.bus_bytes"),
                                   T("dram.data_rate"),
                                   T("pipe.sp.units"),
                                   T("pipe.dp.units"),
                                   T("pipe.int.units"),
                                   T("pipe.sfu.units"),
                                   T("initiation.f32_fma"),
                                   T("initiation.f64_fma"),
                                   T("initiation.int_add"),
                                   T("initiation.sfu"),
                                   T("spare")};
/* A machine with two SMs. Each SM has two f32 pipes, one f64 pipe and one pipe for special functions; the f32 pipes
 * also execute integer operations. Peaks per cycle:
 * - f32: 2 SMs x 2 pipes x 32 lanes x 2 flop of an fma = 256
 * - f64, a warp instruction every 16 cycles: 2 x 32 / 16 = 4
 * - integers, a warp instruction every two cycles: 2 x 2 x 32 / 2 = 64
 * - special functions, a warp instruction every eight cycles: 2 x 32 / 8 = 8
 * - DRAM: 8 x 4 x 350 / 700 = 16 bytes */
static char *machine[N_OPTIONS] = {T("2"), T("700"), T("350"), T("1"),  T("8"), T("4"), T("2"), T("1"),
                                   T("0"), T("1"),   T("1"),   T("16"), T("2"), T("8"), T("")};

static char *operations_of(struct result_row *rows, int n) {
    const struct result_row *of[8];
    for (int i = 0; i < n; i++)
        of[i] = &rows[i];
    struct result_set set = {
        .rows = rows, .names = names, .options = options, .n = n, .n_names = N_NAMES, .n_options = N_OPTIONS};
    struct report r = {.set = &set, .rows = of, .n = n};
    return page(&r, report_operations);
}

/* Counts of the run, which takes 100 cycles and reads 6400 bytes of DRAM:
 * - f32: 1000 + 500 + 2 x 2250 = 6000 flop, which is 60 per cycle (peak 256) and 0.9375 per byte
 * - f64: 200 operations, 2 per cycle (peak 4)
 * - integers: 3200 operations, 32 per cycle (peak 64)
 * - special functions: none */
START_TEST(shares_of_peaks_by_hand) {
    double busy[N_NAMES] = {100, 1000, 500, 2250, 200, 3000, 200, 0, 4800, 1600};
    char name[] = "busy";
    struct result_row row = row_of(name, machine, busy);
    char *text = operations_of(&row, 1);
    row_is(text, "busy", (const double[]){60, 0.234375, 0.9375, 2, 0.5, 0.03125, 32, 0.5, 0.5, NAN, NAN, NAN}, 12,
           NULL);
    says(text, "<th>f32 flop/cycle</th><th>of its peak</th><th>/byte of DRAM</th><th>f64/cycle</th>");
    free(text);
}
END_TEST

/* The machine `cached` has one integer pipe in each SM: 2 x 32 / 2 = 32 integer operations per cycle, and the run
 * reaches this peak. The run has no DRAM traffic, so its values per byte are empty. Operations without statistics have
 * empty values. */
START_TEST(missing_values_are_omitted) {
    double cached[N_NAMES] = {100, NAN, NAN, NAN, NAN, 3000, 200, NAN, 0, 0}, still[N_NAMES];
    char a[] = "cached", b[] = "still", *own[N_OPTIONS];
    memcpy(own, machine, sizeof own);
    own[8] = machine[7];
    for (int i = 0; i < N_NAMES; i++)
        still[i] = NAN;
    struct result_row rows[] = {row_of(a, own, cached), row_of(b, machine, still)};
    char *text = operations_of(rows, 2);
    row_is(text, "cached pipe.int.units=1", (const double[]){NAN, NAN, NAN, NAN, NAN, NAN, 32, 1, NAN, NAN, NAN, NAN},
           12, NULL);
    row_is(text, "still pipe.int.units=0", (const double[]){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
           12, NULL);
    free(text);
}
END_TEST

SUITE(host_cli_report_operations) {
    TEST(shares_of_peaks_by_hand);
    TEST(missing_values_are_omitted);
}
