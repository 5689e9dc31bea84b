/* Tests `heddle sweep --live`: the page of a sweep shows how many runs have ended, and which runs execute. */
#include "live_rig.h"

/* Requests the state until `done` runs have ended. Fails after a minute. */
static cJSON *state_after(double done) {
    for (int i = 0; i < 3000; i++) {
        cJSON *o = state();
        if (number(o, "done") >= done)
            return o;
        cJSON_Delete(o);
        pause_ms(20);
    }
    ck_abort_msg("the runs do not end");
    return NULL;
}

static const char *text_of(const cJSON *row, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(row, name));
}

/* Writes k.ptx, whose threads count to `n`. */
static void write_count(int n) {
    char body[256];
    snprintf(body, sizeof body,
             "ld.param.u64 %%rd1,[p]; mov.u32 %%r1,0;\nL: add.u32 %%r1,%%r1,1; setp.lt.u32 %%p1,%%r1,%d; @%%p1 bra L;\n"
             "st.global.u32 [%%rd1],%%r1;",
             n);
    write_kernel(".param .u64 p", body);
}

/* Waits until heddle ends, and returns its exit status. */
static int wait_for_end(void) {
    int how;
    ck_assert_int_eq(waitpid(running, &how, 0), running);
    running = 0;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

/* Two latencies of the L1 in two models are four runs, which -j1 executes one after another, the runs of spe
 * first. */
START_TEST(the_page_shows_the_runs) {
    if (without_library())
        return;
    write_count(300000);
    start("sweep k.ptx -c tiny -g 1 -b 32 -a zero:256 -m spe,dpe -s l1.latency=11,12 -j 1 -o r.db --live 0");
    cJSON *o = state();
    ck_assert_double_eq(number(o, "total"), 4);
    cJSON_Delete(o);
    o = state_after(1);
    ck_assert_double_eq(number(o, "done"), 1);
    ck_assert_double_eq(number(o, "failed"), 0);
    SAYS(text_of(o, "line"), "1 of 4 runs done");
    const cJSON *ended = cJSON_GetObjectItem(o, "ended"), *executing = cJSON_GetObjectItem(o, "running");
    ck_assert_int_eq(cJSON_GetArraySize(ended), 1);
    ck_assert_str_eq(text_of(cJSON_GetArrayItem(ended, 0), "run"), "k.ptx -g 1 -b 32 in spe on tiny l1.latency=11");
    ck_assert_str_eq(text_of(cJSON_GetArrayItem(ended, 0), "check"), "ran");
    /* the loop has three instructions, so 300,000 iterations take at least 900,000 cycles */
    ck_assert_double_ge(number(cJSON_GetArrayItem(ended, 0), "cycles"), 900000);
    ck_assert_double_gt(number(cJSON_GetArrayItem(ended, 0), "ipc"), 0);
    ck_assert_int_le(cJSON_GetArraySize(executing), 1);
    cJSON_Delete(o);
    o = state_after(2);
    SAYS(text_of(o, "line"), " left");
    /* the newest run is first */
    ck_assert_str_eq(text_of(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "ended"), 1), "run"),
                     "k.ptx -g 1 -b 32 in spe on tiny l1.latency=11");
    cJSON_Delete(o);
    ck_assert_int_eq(wait_for_end(), 0);
    ck_assert_int_lt(reach(), 0); /* the server has stopped */
    char *said = slurp("stdout.txt");
    SAYS(said, "4 runs done, 0 already in the database");
    free(said);
    ck_assert_int_eq(database_number("r.db", "SELECT count(*) FROM run"), 4);
}
END_TEST

/* Runs that reach the cycle limit are failures. Runs that the database has count as done. */
START_TEST(failures_and_earlier_runs_count) {
    if (without_library())
        return;
    write_count(2000000000);
    STATUS(HEDDLE_DEADLOCK,
           "sweep k.ptx -c tiny -g 1 -b 32 -a zero:256 -s l1.latency=10 --cycle-limit 6000000 -o r.db");
    start(
        "sweep k.ptx -c tiny -g 1 -b 32 -a zero:256 -s l1.latency=10:13:1 --cycle-limit 6000000 -j 1 -o r.db --live 0");
    cJSON *o = state_after(2);
    ck_assert_double_eq(number(o, "total"), 4);
    ck_assert_double_eq(number(o, "done"), 1 + number(o, "failed"));
    SAYS(text_of(o, "line"), "failed");
    ck_assert_str_eq(text_of(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "ended"), 0), "check"), "limit");
    cJSON_Delete(o);
    ck_assert_int_eq(wait_for_end(), HEDDLE_DEADLOCK);
}
END_TEST

/* A click on a head sorts, the page has no faults, and the running run is on it. */
START_TEST(the_page_works_in_a_browser) {
    static const char trial[] =
        "<script>onload=()=>setTimeout(()=>{const need=(x,w)=>x||bad.push(w);"
        "need(/^\\d of 3 runs done/.test($('line').textContent),$('line').textContent);"
        "need($('bar').max===3,'bar');need($('running').tBodies[0].rows.length===1,'running');"
        "need(/k.ptx -g 1 -b 32 in spe on tiny/.test($('running').textContent),$('running').textContent);"
        "need(document.documentElement.scrollWidth<=innerWidth,'the page is wide');"
        "document.title=bad.join('|')||'fine'},50)</script></body>";
    const char *name = live_browser();
    if (!name)
        return;
    write_count(2000000000);
    start("sweep k.ptx -c tiny -g 1 -b 32 -a zero:256 -s l1.latency=10:12:1 -j 1 -o r.db --live 0");
    cJSON *o = state();
    for (int i = 0; i < 500 && cJSON_GetArraySize(cJSON_GetObjectItem(o, "running")) == 0; i++) {
        cJSON_Delete(o);
        pause_ms(20);
        o = state();
    }
    cJSON_Delete(o);
    browse_page(name, trial);
    stop(SIGINT);
}
END_TEST

/* The page needs runs in this process, so it does not go with options that only plan. */
START_TEST(plans_have_no_page) {
    static const char *const rows[] = {"--dry-run", "--queue q.db", "--slurm"};
    write_count(1);
    for (int i = 0; i < 3; i++) {
        STATUS(HEDDLE_USAGE, "sweep k.ptx -c tiny -g 1 -b 32 -a zero:256 --live 0 %s", rows[i]);
        SAYS(err, "--live shows runs, and this command runs nothing");
    }
}
END_TEST

SUITE(host_cli_sweep_live) {
    tcase_add_checked_fixture(tc, cli_setup, live_teardown);
    TEST(the_page_shows_the_runs);
    TEST(failures_and_earlier_runs_count);
    TEST(the_page_works_in_a_browser);
    TEST(plans_have_no_page);
}
