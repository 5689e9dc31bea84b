/* Runs a sweep as a job array on a real Slurm installation. The daemons munged, slurmctld and slurmd use the loopback
 * interface and keep their files in the test's folder. */
#include "cli_help.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SWEEP "sweep lud vecadd -m spe,dpe -s l1.size=8K,16K "

/* The process that started the daemons (the keeper), and a pipe that is closed when the test's process ends for any
 * reason. */
static pid_t keeper;
static int alive = -1;

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

/* Returns the first line that a shell command prints, or "" if it prints nothing. */
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

/* Slurm settings for a cluster on this machine: every user is root, accounting is off, and a requeued job restarts
 * soon. */
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

/* Kills all descendants of the keeper. A process whose parent daemon has ended becomes a child of the keeper, so this
 * finds all processes. */
static void kill_all(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    while (waitpid(-1, NULL, WNOHANG) >= 0 || errno == EINTR) {
        FILE *f = fopen(path, "r");
        int pid;
        while (f && fscanf(f, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        if (f)
            fclose(f);
        pause_ms(5);
    }
}

static void start_daemon(const char *command) {
    if (fork() == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
}

/* Runs the daemons in the foreground, in a separate process, until the test's process ends or is killed. */
static void keep_daemons(int until) {
    char byte;
    setsid(); /* leaves the process group that is killed with the test */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    start_daemon("exec munged --foreground --force --key-file=$PWD/munge/key --socket=$PWD/munge/socket "
                 "--pid-file=$PWD/munge.pid --log-file=$PWD/munge/log --seed-file=$PWD/munge/seed >munge.txt 2>&1");
    for (int i = 0; i < 100 && !exists("munge/socket"); i++)
        pause_ms(50);
    start_daemon("exec slurmctld -D -f $SLURM_CONF >ctld.txt 2>&1");
    start_daemon("exec slurmd -D -f $SLURM_CONF >slurmd.txt 2>&1");
    while (read(until, &byte, 1) < 0 && errno == EINTR)
        continue;
    kill_all();
    _exit(0);
}

static bool start_keeper(void) {
    int ends[2];
    if (system("mkdir -p state spool munge && chmod 755 . && chmod 711 munge && head -c 1024 /dev/urandom "
               ">munge/key && chmod 600 munge/key") != 0 ||
        pipe2(ends, O_CLOEXEC) != 0)
        return false;
    keeper = fork();
    if (keeper == 0) {
        close(ends[1]);
        keep_daemons(ends[0]);
    }
    close(ends[0]);
    alive = ends[1];
    return keeper > 0;
}

static void stop_keeper(void) {
    if (alive >= 0)
        close(alive);
    if (keeper > 0)
        waitpid(keeper, NULL, 0);
    alive = -1;
    keeper = 0;
}

/* Starts a cluster. Returns false and skips the test if no cluster can be started. */
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
    bool started = start_keeper();
    for (int i = 0; started && i < 100; i++, pause_ms(200))
        if (strstr(shell("sinfo -h -o %T 2>/dev/null"), "idle"))
            return true;
    test_skip("Slurm does not start here");
    return false;
}

static void end(void) {
    if (keeper > 0)
        shell("scancel -u root 2>/dev/null");
    stop_keeper();
    unsetenv("SLURM_CONF");
    cli_teardown();
}

/* Returns the number of other processes with `folder` in their command line or working directory. */
static int processes_of(const char *folder) {
    DIR *d = opendir("/proc");
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300], text[4096], cwd[PATH_MAX];
        snprintf(path, sizeof path, "/proc/%.16s/cmdline", e->d_name);
        int fd = open(path, O_RDONLY);
        ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text);
        if (fd >= 0)
            close(fd);
        snprintf(path, sizeof path, "/proc/%.16s/cwd", e->d_name);
        ssize_t at = readlink(path, cwd, sizeof cwd);
        bool other = atoi(e->d_name) > 0 && atoi(e->d_name) != (int)getpid(); /* skips 'self' as well */
        n += other && ((len > 0 && memmem(text, (size_t)len, folder, strlen(folder))) ||
                       (at > 0 && memmem(cwd, (size_t)at, folder, strlen(folder))));
    }
    if (d)
        closedir(d);
    return n;
}

/* Kills the process that started a cluster while a job runs. No process of the cluster may remain. */
START_TEST(daemons_end_with_a_test_that_is_killed) {
    char folder[PATH_MAX];
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool there = begin() && system("sbatch --wrap 'sleep 1000' >/dev/null 2>&1") == 0;
        for (int i = 0; there && i < 100 && !strstr(shell("squeue -h -o %T"), "RUNNING"); i++)
            pause_ms(100);
        if (write(ready[1], there ? "y" : "n", 1) == 1)
            pause();
        _exit(0);
    }
    char answer = 0;
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &answer, 1), 1);
    close(ready[0]);
    int before = processes_of(folder);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (answer != 'y') {
        test_skip("there is no Slurm to be started");
        return;
    }
    ck_assert_int_ge(before, 5); /* the child process, its keeper, and three daemons */
    for (int i = 0; i < 100 && processes_of(folder); i++)
        pause_ms(100);
    ck_assert_int_eq(processes_of(folder), 0);
}
END_TEST

static long long count_in_parts(const char *sql) {
    long long all = 0;
    for (int i = 0; i < 3; i++) {
        char part[64];
        snprintf(part, sizeof part, "sweep.db.parts/%d-of-3.db", i);
        all += database_number(part, sql);
    }
    return all;
}

/* Waits until a query on a part's database returns at least `least`. Returns the query's result. */
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

/* 8 runs in 3 tasks. Task 1 is killed when its database has one run. slurmctld requeues task 2, also after one run.
 * - Finished runs are not repeated.
 * - The job that merges the parts submits the missing runs.
 * - At the end, one database contains each run once, with the results of an undisturbed sweep. */
START_TEST(tasks_that_are_killed_lose_nothing) {
    static const char ids[] = "SELECT count(*) FROM run";
    /* text that identifies the first run of a part and contains its end time */
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
    ck_assert_int_lt(there, 8); /* both tasks were interrupted */
    long long began = database_number("sweep.db.parts/1-of-3.db", first);
    wait_for_jobs();
    ck_assert_int_eq(database_number("sweep.db", ids), 8);
    ck_assert_int_eq(database_number("sweep.db", "SELECT count(DISTINCT key) FROM run"), 8);
    ck_assert_int_eq(count_in_parts(ids), 8); /* no run is in two parts, so the sum equals the number of runs */
    ck_assert_int_eq(database_number("sweep.db", "SELECT count(*) FROM run WHERE verdict = 'pass'"), 8);
    ck_assert_int_eq(database_number("sweep.db", "SELECT count(*) FROM claim"), 0);
    ck_assert_int_eq(database_number("sweep.db.parts/1-of-3.db", first), began);
    char *log = slurp("sweep.db.parts/task-merge.txt");
    SAYS(log, "\n0 runs are missing\n");
    SAYS(log, "3 tasks: job "); /* the killed task has not done all of its runs */
    free(log);
    STATUS(HEDDLE_OK, SWEEP "-o sweep.db");
    SAYS(out, "0 runs done, 8 already in the database");
    STATUS(HEDDLE_OK, SWEEP "-o whole.db -j 2");
    database_contained("whole.db", "sweep.db");
    database_contained("sweep.db", "whole.db");
}
END_TEST

SUITE(host_cli_slurm_real) {
    tcase_add_checked_fixture(tc, cli_setup, end);
    tcase_set_timeout(tc, 240);
    TEST(tasks_that_are_killed_lose_nothing);
    TEST(daemons_end_with_a_test_that_is_killed);
}
