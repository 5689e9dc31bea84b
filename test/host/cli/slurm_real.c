/* A sweep as a job array of a real Slurm: munged, slurmctld and slurmd on the loopback, in the test's folder. */
#include "cli_help.h"
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SWEEP "sweep lud vecadd -m spe,dpe -s l1.size=8K,16K "

static bool up;

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static int free_port(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, len), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    close(fd);
    return ntohs(a.sin_port);
}

/* What a shell says of its first line; "" when there is none. */
static const char *shell(const char *command) {
    static char line[512];
    FILE *f = popen(command, "r");
    if (!f || !fgets(line, sizeof line, f))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (f)
        pclose(f);
    return line;
}

/* A cluster of this machine: everyone is root, nothing is accounted, what is requeued begins again soon. */
static const char settings[] =
    "ClusterName=heddle\nSlurmUser=root\nAuthType=auth/munge\n"
    "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n"
    "JobAcctGatherType=jobacct_gather/none\n"
    "AccountingStorageType=accounting_storage/none\n"
    "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSchedulerType=sched/builtin\n"
    "ReturnToService=2\nSlurmdParameters=config_overrides\nSchedulerParameters=sched_interval=1\n";

static void configure(const char *folder) {
    FILE *f = fopen("slurm.conf", "w");
    ck_assert_ptr_nonnull(f);
    char name[128] = "";
    gethostname(name, sizeof name - 1);
    name[strcspn(name, ".")] = '\0';
    fprintf(f, "%sSlurmctldHost=%s(127.0.0.1)\nSlurmctldPort=%d\nSlurmdPort=%d\n", settings, name, free_port(),
            free_port());
    fprintf(f, "AuthInfo=socket=%s/munge/socket,cred_expire=5\nStateSaveLocation=%s/state\nSlurmdSpoolDir=%s/spool\n",
            folder, folder, folder);
    fprintf(f, "SlurmctldPidFile=%s/ctld.pid\nSlurmdPidFile=%s/slurmd.pid\nSlurmctldLogFile=%s/ctld.log\n", folder,
            folder, folder);
    fprintf(f, "SlurmdLogFile=%s/slurmd.log\nNodeName=%s NodeAddr=127.0.0.1 CPUs=3 State=UNKNOWN\n", folder, name);
    fprintf(f, "PartitionName=all Nodes=%s Default=YES State=UP\n", name);
    ck_assert_int_eq(fclose(f), 0);
}

/* Whether there is a cluster to be had; the test is skipped when not. */
static bool begin(void) {
    char folder[PATH_MAX], path[PATH_MAX + 16];
    if (system("command -v munged slurmctld slurmd sbatch squeue scontrol >/dev/null 2>&1") != 0) {
        test_skip("Slurm is not installed (slurm-wlm)");
        return false;
    }
    if (geteuid() != 0) {
        test_skip("slurmd runs as root only");
        return false;
    }
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    snprintf(path, sizeof path, "%s/slurm.conf", folder);
    configure(folder);
    setenv("SLURM_CONF", path, 1);
    up = true;
    int how = system("mkdir -p state spool munge && chmod 755 . && chmod 711 munge && head -c 1024 /dev/urandom "
                     ">munge/key && chmod 600 munge/key && munged --force --key-file=$PWD/munge/key "
                     "--socket=$PWD/munge/socket --pid-file=$PWD/munge.pid --log-file=$PWD/munge/log "
                     "--seed-file=$PWD/munge/seed 2>munge.txt && slurmctld -f $SLURM_CONF && slurmd -f $SLURM_CONF "
                     ">slurmd.txt 2>&1");
    for (int i = 0; how == 0 && i < 100; i++, pause_ms(200))
        if (strstr(shell("sinfo -h -o %T 2>/dev/null"), "idle"))
            return true;
    test_skip("Slurm does not start here");
    return false;
}

static void end(void) {
    static const char *const files[] = {"slurmd.pid", "ctld.pid", "munge.pid"};
    if (up)
        shell("scancel -u root 2>/dev/null");
    for (int i = 0; up && i < 3; i++) {
        char *text = exists(files[i]) ? slurp(files[i]) : NULL;
        pid_t pid = text ? atoi(text) : 0;
        free(text);
        if (pid > 1)
            kill(pid, SIGTERM);
        for (int wait = 0; pid > 1 && wait < 20 && kill(pid, 0) == 0; wait++)
            pause_ms(50);
        if (pid > 1)
            kill(pid, SIGKILL);
    }
    up = false;
    unsetenv("SLURM_CONF");
    cli_teardown();
}

static long long count_in_parts(const char *sql) {
    long long all = 0;
    for (int i = 0; i < 3; i++) {
        char part[64];
        snprintf(part, sizeof part, "sweep.db.parts/%d-of-3.db", i);
        all += database_number(part, sql);
    }
    return all;
}

/* Waits until a query of a share gives at least `least`. */
static long long wait_for(const char *part, const char *sql, long long least) {
    for (int i = 0; i < 1200; i++, pause_ms(50)) {
        long long n = exists(part) ? database_number(part, sql) : -1;
        if (n >= least)
            return n;
    }
    ck_abort_msg("%s: '%s' stays below %lld", part, sql, least);
    return 0;
}

static void wait_for_jobs(void) {
    for (int i = 0; i < 1200; i++, pause_ms(100))
        if (!*shell("squeue -h 2>&1"))
            return;
    ck_abort_msg("jobs do not end: %s", shell("squeue -h -o '%i %T %r'"));
}

/* 8 runs in 3 tasks. Task 1 is killed, with one run in its database, and task 2 is put back into the queue by the
 * cluster's master, with one as well. What they had is not run again; the job that merges submits what is missing; all
 * of it is in one database at the end, each once, as of an undisturbed sweep. */
START_TEST(tasks_that_are_killed_lose_nothing) {
    static const char ids[] = "SELECT count(*) FROM run";
    /* which was the first of its share, and when it ended */
    static const char first[] = "SELECT id * 1000000000000 + strftime('%s', ended) FROM run ORDER BY id LIMIT 1";
    if (!begin())
        return;
    STATUS(HEDDLE_OK, SWEEP "-o sweep.db -j 1 --slurm=submit --tasks 3");
    SAYS(out, "8 runs in 3 tasks");
    SAYS(out, "3 tasks: job 1; merged by job 2");
    wait_for("sweep.db.parts/1-of-3.db", ids, 1);
    pid_t pid = (pid_t)wait_for("sweep.db.parts/1-of-3.db", "SELECT pid FROM claim", 2);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    wait_for("sweep.db.parts/2-of-3.db", ids, 1);
    ck_assert_int_eq(system("scontrol requeue 1_2"), 0);
    long long there = count_in_parts(ids);
    ck_assert_int_ge(there, 2);
    ck_assert_int_lt(there, 8); /* they were in the middle of it */
    long long began = database_number("sweep.db.parts/1-of-3.db", first);
    wait_for_jobs();
    ck_assert_int_eq(database_number("sweep.db", ids), 8);
    ck_assert_int_eq(database_number("sweep.db", "SELECT count(DISTINCT key) FROM run"), 8);
    ck_assert_int_eq(count_in_parts(ids), 8); /* none is in two shares */
    ck_assert_int_eq(database_number("sweep.db", "SELECT count(*) FROM run WHERE verdict = 'pass'"), 8);
    ck_assert_int_eq(database_number("sweep.db", "SELECT count(*) FROM claim"), 0);
    ck_assert_int_eq(database_number("sweep.db.parts/1-of-3.db", first), began);
    char *log = slurp("sweep.db.parts/task-merge.txt");
    SAYS(log, "\n0 runs are missing\n");
    SAYS(log, "3 tasks: job "); /* some of the killed task were */
    free(log);
    STATUS(HEDDLE_OK, SWEEP "-o sweep.db");
    SAYS(out, "0 runs now, 8 were there");
    STATUS(HEDDLE_OK, SWEEP "-o whole.db -j 2");
    database_contained("whole.db", "sweep.db");
    database_contained("sweep.db", "whole.db");
}
END_TEST

SUITE(host_cli_slurm_real) {
    tcase_add_checked_fixture(tc, cli_setup, end);
    tcase_set_timeout(tc, 240);
    TEST(tasks_that_are_killed_lose_nothing);
}
