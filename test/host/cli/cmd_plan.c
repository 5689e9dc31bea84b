/* Tests how `heddle sweep` executes runs that the database lacks: refused runs, failing runs, and added profiles. */
#include "cli_help.h"

/* spmv runs with any size of shared memory. sgemm has two tiles of 16 x 16 floats, which are 2048 bytes, so that it
 * does not fit into 1024 bytes. */
#define SWEEP "sweep spmv sgemm -s sm.shared_bytes=1K,48K -j 1 -o a.db "

START_TEST(a_run_that_is_refused_stops_no_other) {
    STATUS(HEDDLE_USAGE, SWEEP);
    SAYS(err, "heddle sweep: sgemm in spe on fermi sm.shared_bytes=1024: ");
    SAYS(err, "needs 2048 bytes of shared memory");
    SAYS(err, "heddle sweep: 3 of 4 runs are there; the same command tries the others again\n");
    STATUS(HEDDLE_OK, "results a.db --rows program --columns sm.shared_bytes --csv -");
    SAYS(out, "sgemm");
    /* the refused run is neither stored nor claimed (marked as in progress), so the same command tries it again */
    STATUS(HEDDLE_USAGE, SWEEP);
    SAYS(err, "needs 2048 bytes of shared memory");
    STATUS(HEDDLE_OK, "sweep spmv sgemm -s sm.shared_bytes=48K -o a.db");
    SAYS(out, "0 runs done, 2 already in the database");
}
END_TEST

/* A launch that reaches its cycle limit is a result: it is stored with its message and not run again. */
START_TEST(a_run_that_ends_badly_is_kept_and_told) {
    STATUS(HEDDLE_DEADLOCK, "sweep spmv --cycle-limit 100 -o a.db");
    SAYS(out, "1 run done, 0 already in the database");
    SAYS(err, "heddle sweep: spmv in spe on fermi: limit: ");
    STATUS(HEDDLE_DEADLOCK, "sweep spmv --cycle-limit 100 -o a.db");
    SAYS(out, "0 runs done, 1 already in the database");
    SAYS(err, "heddle sweep: spmv in spe on fermi: limit: ");
}
END_TEST

/* A stored run without a profile is run again once to make the profile. */
START_TEST(profiles_are_added_to_what_is_there) {
    STATUS(HEDDLE_OK, "sweep spmv -m spe,dpe -o a.db");
    SAYS(out, "2 runs done, 0 already in the database");
    STATUS(HEDDLE_OK, "sweep spmv -o a.db --profile");
    SAYS(out, "1 run done, 0 already in the database");
    STATUS(HEDDLE_OK, "sweep spmv -m spe,dpe -o a.db --profile");
    SAYS(out, "1 run done, 1 already in the database");
    STATUS(HEDDLE_OK, "sweep spmv -m spe,dpe -o a.db");
    SAYS(out, "0 runs done, 2 already in the database");
}
END_TEST

/* The database stores the command line of each run. */
START_TEST(what_was_typed_is_kept) {
    static const char typed[] = "sweep spmv -o a.db --set=l1.size=8K,16K,8K";
    STATUS(HEDDLE_OK, "%s", typed);
    SAYS(out, "2 runs done, 0 already in the database"); /* duplicates run once */
    static char bytes[1 << 16];
    FILE *f = fopen("a.db", "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    ck_assert_ptr_nonnull(memmem(bytes, n, typed, sizeof typed - 1));
}
END_TEST

SUITE(host_cli_cmd_plan) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(a_run_that_is_refused_stops_no_other);
    TEST(a_run_that_ends_badly_is_kept_and_told);
    TEST(profiles_are_added_to_what_is_there);
    TEST(what_was_typed_is_kept);
}
