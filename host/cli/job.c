#include "job.h"
#include "host/progress.h"
#include "host/report/interrupt.h"
#include "host/results/results_json.h"
#include "host/results/values.h"
#include "isa/machine/lazy.h"
#include "timing/report/stat.h"
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void job_free(struct job *j) {
    free(j->message);
    free(j->notes);
    cJSON_Delete(j->result);
    free(j->text);
    j->message = j->notes = j->text = NULL;
    j->result = NULL;
}

double job_stat(const struct job *j, const char *name) {
    const char *values = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(j->result, "values"));
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(j->result, "stats"), name);
    if (values)
        return values_at(values, stat_index(name));
    return cJSON_IsNumber(v) ? v->valuedouble : NAN;
}

/* Returns true for a user's program that ended and has no check of its results. */
static bool unchecked(const struct job *j) {
    const struct own *own = bench_own(j->bench);
    return own && !own->checks && j->status == HEDDLE_OK;
}

const char *job_verdict(const struct job *j) {
    switch (j->status) {
    case HEDDLE_OK:
        return unchecked(j) ? "ran" : "pass";
    case HEDDLE_WRONG:
        return "WRONG";
    case HEDDLE_FAULT:
        return "fault";
    case HEDDLE_DEADLOCK:
        return j->limited ? "limit" : "deadlock";
    case HEDDLE_STOPPED:
        return "stopped";
    default:
        return "refused";
    }
}

static void set_text(char **to, const char *text) {
    size_t len = strlen(text);
    while (len && text[len - 1] == '\n')
        len--;
    free(*to);
    *to = len ? strndup(text, len) : NULL;
}

static void say(struct job *j, const char *text) { set_text(&j->message, text); }

/* Sets j->result to the context's statistics, parsed from the text that the library writes. A child process keeps the
 * text itself (j->text), and its parent parses it. To parse and print it in the child, too, would take longer than a
 * short run. Returns false if out of memory. */
static bool take_result(struct job *j, struct heddle *h, int argc, char *const *argv) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return false;
    bool fine = j->needs != JOB_ALL && !j->options.profile
                    ? results_write_brief(h, f, j->needs == JOB_DATABASE) == HEDDLE_OK
                    : heddle_write_json(h, f, argc, argv, unchecked(j) ? -1 : j->status == HEDDLE_OK) == HEDDLE_OK;
    fine = fclose(f) == 0 && fine;
    if (fine && j->in_child && !j->options.profile) {
        j->text = text;
        return true;
    }
    j->result = fine ? cJSON_Parse(text) : NULL;
    free(text);
    return j->result && cJSON_AddStringToObject(j->result, "benchmark", j->bench->name);
}

enum { WHY_BYTES = 1 << 14 };

static bool met_limit(const struct heddle *h) {
    const char *why = heddle_incomplete(h, -1);
    return why && strcmp(why, "cycle-limit") == 0;
}

/* Runs the program of the job. Sets j->status; writes the message of a failure to `why`, which stays empty if the
 * message is in heddle_error(). */
static void run_program(struct job *j, struct heddle *h, char *why) {
    char path[PATH_MAX];
    struct heddle_module *m = NULL;
    const struct own *own = bench_own(j->bench);
    if (own) {
        const struct script_host host = {.options = &j->options, .watch = interrupt_guard};
        j->status = own->run(own, h, &host, j->size, why, WHY_BYTES);
        j->limited = met_limit(h);
    } else if (!bench_kernel_path(j->bench->ptx, path, sizeof path)) {
        snprintf(why, WHY_BYTES, "%s is not found: set HEDDLE_KERNELS to the folder of kernels", j->bench->ptx);
        j->status = HEDDLE_USAGE;
    } else if (!(m = heddle_module_file(h, path))) {
        j->status = heddle_status(h);
    } else {
        j->status = j->bench->run(h, m, j->size, why, WHY_BYTES);
        j->limited = met_limit(h);
    }
}

static void run_again(struct job *j, struct heddle *h) {
    char why[WHY_BYTES] = "";
    interrupt_guard(h);
    run_program(j, h, why);
    interrupt_guard(NULL);
}

static void run_in(struct job *j, struct heddle *h, int argc, char *const *argv) {
    char why[WHY_BYTES] = "";
    run_program(j, h, why);
    if (j->status != HEDDLE_OK)
        say(j, *why ? why : heddle_error(h));
    if (j->status == HEDDLE_OK || j->status == HEDDLE_WRONG) {
        if (!take_result(j, h, argc, argv)) {
            j->status = HEDDLE_USAGE;
            say(j, "the host is out of memory");
        }
    }
}

static struct heddle *open_context(const struct job *j, const struct heddle_options *o, char *err, size_t err_size) {
    return j->machine ? run_machine_open(j->machine, o, err, err_size) : heddle_open(o, err, err_size);
}

/* Runs the job of a sampled simulation once, in a context with the plan. Sets *more if the plan needs another run;
 * otherwise keeps the result. */
static void run_sampled_once(struct job *j, const struct heddle_options *o, bool *more, int argc, char *const *argv) {
    char why[WHY_BYTES] = "";
    struct heddle *h = open_context(j, o, why, sizeof why);
    *more = false;
    if (!h) {
        j->status = HEDDLE_USAGE;
        say(j, why);
        return;
    }
    interrupt_guard(h);
    run_program(j, h, why);
    const bool ended = j->status == HEDDLE_OK || j->status == HEDDLE_WRONG;
    if (j->status != HEDDLE_OK)
        say(j, *why ? why : heddle_error(h));
    if (ended && heddle_plan_settle(h, more) != HEDDLE_OK) {
        j->status = heddle_status(h);
        say(j, heddle_error(h));
    } else if (ended && !*more && !take_result(j, h, argc, argv)) {
        j->status = HEDDLE_USAGE;
        say(j, "the host is out of memory");
    }
    interrupt_unguard();
    set_text(&j->notes, heddle_notes(h));
    heddle_close(h);
}

/* Runs the job as a sampled simulation: one run, and further runs if they are needed. */
static void run_sampled(struct job *j, int argc, char *const *argv) {
    struct heddle_options o = j->options;
    FILE *nowhere = fopen("/dev/null", "w");
    bool more = nowhere && (o.plan = heddle_plan_new(j->error));
    if (!more) {
        j->status = HEDDLE_USAGE;
        say(j, "the host is out of memory");
    }
    for (int n = 0; more; n++) {
        o.device_stdout = n == 0 ? j->options.device_stdout : nowhere; /* kernels print once */
        run_sampled_once(j, &o, &more, argc, argv);
    }
    heddle_plan_free(o.plan);
    if (nowhere)
        fclose(nowhere);
}

void job_run(struct job *j, int argc, char *const *argv) {
    char err[1024];
    if (j->sampled) {
        run_sampled(j, argc, argv);
        return;
    }
    struct heddle *h = open_context(j, &j->options, err, sizeof err);
    if (!h) {
        j->status = HEDDLE_USAGE;
        say(j, err);
        return;
    }
    interrupt_guard(h);
    run_in(j, h, argc, argv);
    if (j->options.checkpoint && heddle_checkpoint_end(h) != HEDDLE_OK && j->status == HEDDLE_OK) {
        j->status = HEDDLE_USAGE;
        say(j, heddle_error(h));
    }
    if (j->options.profile && j->result)
        job_add_paths(j, run_again);
    interrupt_unguard();
    set_text(&j->notes, heddle_notes(h));
    heddle_close(h);
}

void job_skip(struct job *j) {
    j->status = HEDDLE_STOPPED;
    say(j, "not run");
}

/* A child process that runs jobs, one at a time, and the bytes that its socket has delivered so far. The parent writes
 * the number of a job. The child answers with a struct head and the text of the outcome. */
struct child {
    pid_t pid;
    int fd;
    int job; /* number of the running job; -1: none */
    char *text;
    size_t len, cap;
    bool no_memory; /* this process had no memory for the answer */
};

struct head {
    uint64_t len;    /* bytes of the text: an object, and the result, which may be empty */
    uint64_t result; /* bytes of the result */
    double seconds;  /* processor time of the job in the child */
};

/* The jobs, and the processes that run them. All jobs before number `next` have begun or were not wanted. */
struct crew {
    struct job *jobs;
    /* if `children` or `fds` is NULL, memory ran out, and the jobs run in this process */
    struct child *children;
    struct pollfd *fds;
    int parallel, next, n, running; /* n: number of children; running: number of jobs that run */
};

static bool write_all(int fd, const void *data, size_t len) {
    const char *text = data;
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* Runs the job in the child process and sends its outcome to the parent as JSON. */
static bool serve(struct job *j, int fd, int argc, char *const *argv) {
    const clock_t began = clock();
    j->options.progress = false;
    j->in_child = true;
    job_run(j, argc, argv);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "status", j->status);
    cJSON_AddBoolToObject(o, "limited", j->limited);
    if (j->message)
        cJSON_AddStringToObject(o, "message", j->message);
    if (j->notes)
        cJSON_AddStringToObject(o, "notes", j->notes);
    if (j->result)
        cJSON_AddItemReferenceToObject(o, "result", j->result);
    char *text = cJSON_PrintUnformatted(o);
    const size_t own = text ? strlen(text) : 0, result = text && j->text ? strlen(j->text) : 0;
    const struct head head = {own + result, result, (double)(clock() - began) / CLOCKS_PER_SEC};
    bool sent = write_all(fd, &head, sizeof head) && write_all(fd, text, own) && write_all(fd, j->text, result);
    cJSON_free(text);
    cJSON_Delete(o);
    job_free(j);
    return sent;
}

/* The child process: runs the jobs whose numbers it reads, until the socket ends. */
static void serve_all(const struct crew *c, int fd, int argc, char *const *argv) {
    int job;
    /* ends the child when the parent ends, because only the parent can read the result */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    interrupt_forget_all();
    for (int i = 0; i < c->n; i++) /* another child would not see the end of its socket while this child has it */
        close(c->children[i].fd);
    /* The memory of a simulated machine is kept, so that the next machine need not request memory from the system. */
    lazy_keep(256 << 20);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    while (read(fd, &job, sizeof job) == sizeof job && serve(&c->jobs[job], fd, argc, argv))
        continue;
    _exit(0); /* not exit(): buffers and exit handlers belong to the parent */
}

/* Starts a child without a job. */
static bool start(struct crew *c, int argc, char *const *argv) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        serve_all(c, ends[1], argc, argv);
    }
    close(ends[1]);
    if (pid > 0)
        c->children[c->n++] = (struct child){.pid = pid, .fd = ends[0], .job = -1};
    else
        close(ends[0]);
    return pid > 0;
}

/* Returns true if the child's answer is complete. */
static bool answered(const struct child *c, struct head *head) {
    if (c->len < sizeof *head)
        return false;
    memcpy(head, c->text, sizeof *head);
    return c->len - sizeof *head >= head->len;
}

/* Reads some bytes from the child. Returns false if the answer is complete, at the end of the socket, or if memory ran
 * out. */
static bool take(struct child *c) {
    struct head head;
    if (c->cap - c->len < 65536) {
        char *more = realloc(c->text, c->cap + (1 << 18));
        if (!more) {
            c->no_memory = true;
            return false;
        }
        c->text = more;
        c->cap += 1 << 18;
    }
    ssize_t n = read(c->fd, c->text + c->len, c->cap - c->len - 1);
    if (n > 0)
        c->len += (size_t)n;
    return (n > 0 || (n < 0 && errno == EINTR)) && !answered(c, &head);
}

/* Takes the outcome of a job from the text. Returns false if the text is no outcome. */
static bool outcome(struct job *j, const char *text, const struct head *head) {
    const size_t own = head->result <= head->len ? head->len - head->result : 0;
    cJSON *o = own ? cJSON_ParseWithLength(text, own) : NULL;
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(o, "status");
    const cJSON *message = cJSON_GetObjectItemCaseSensitive(o, "message");
    const cJSON *notes = cJSON_GetObjectItemCaseSensitive(o, "notes");
    bool fine = cJSON_IsNumber(status);
    if (fine) {
        j->status = (enum heddle_status)status->valueint;
        j->limited = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "limited"));
        if (cJSON_IsString(message))
            say(j, message->valuestring);
        if (cJSON_IsString(notes))
            set_text(&j->notes, notes->valuestring);
        j->result = head->result ? cJSON_ParseWithLength(text + own, head->result)
                                 : cJSON_DetachItemFromObjectCaseSensitive(o, "result");
        fine = j->result || !head->result;
        if (j->result && !cJSON_GetObjectItemCaseSensitive(j->result, "benchmark"))
            fine = cJSON_AddStringToObject(j->result, "benchmark", j->bench->name) != NULL;
    }
    cJSON_Delete(o);
    return fine;
}

/* Ends child `i` and returns how it ended. */
static int dismiss(struct crew *c, int i) {
    struct child *one = &c->children[i];
    int how = 0;
    close(one->fd);
    while (waitpid(one->pid, &how, 0) < 0 && errno == EINTR)
        continue;
    free(one->text);
    c->running -= one->job >= 0;
    *one = c->children[--c->n];
    return how;
}

/* Sets the outcome of a job without an answer: its child ended early, or this process had no memory for the answer
 * (`no_memory`). In the second case SIGPIPE may have ended the child. */
static void lose(struct job *j, int how, bool no_memory) {
    if (interrupt_signal()) {
        j->status = HEDDLE_STOPPED;
        say(j, "stopped");
    } else if (no_memory || (WIFEXITED(how) && WEXITSTATUS(how) == 0)) { /* or the child had no memory for the text */
        j->status = HEDDLE_USAGE;
        say(j, "the host is out of memory");
    } else {
        char text[96];
        snprintf(text, sizeof text, "the simulation's process ended early (%s %d)",
                 WIFSIGNALED(how) ? "signal" : "status", WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        j->status = HEDDLE_FAULT;
        j->lost = true;
        say(j, text);
    }
}

/* Takes the outcome of child `i`'s job, and returns the number of the job. A child whose job was short stays for
 * another job, which saves the start of a process. After a long job the child ends, so each long job has a process of
 * its own. Processor time decides, because on a busy host a short job may wait long. */
static int finish(struct crew *c, int i) {
    static const double short_seconds = 0.1;
    struct child *one = &c->children[i];
    struct head head = {0};
    int job = one->job;
    struct job *j = &c->jobs[job];
    bool fine = answered(one, &head) && outcome(j, one->text + sizeof head, &head);
    if (fine && head.seconds < short_seconds) {
        one->len = 0;
        one->job = -1;
        c->running--;
        return job;
    }
    const bool no_memory = one->no_memory;
    int how = dismiss(c, i);
    if (!fine)
        lose(j, how, no_memory);
    return job;
}

/* Waits at most 0.2 seconds for data from the children, and reads it. Returns the index of a child that has answered
 * or ended, or -1. */
static int attend(struct crew *c) {
    for (int i = 0; i < c->n; i++)
        c->fds[i] = (struct pollfd){.fd = c->children[i].fd, .events = c->children[i].job >= 0 ? POLLIN : 0};
    if (c->n < 1 || poll(c->fds, (nfds_t)c->n, 200) < 0)
        return -1;
    for (int i = 0; i < c->n; i++)
        if (c->children[i].job >= 0 && c->fds[i].revents && !take(&c->children[i]))
            return i;
    return -1;
}

/* Gives job `job` to a child without a job. Returns false if there is none and none can be started. */
static bool give(struct crew *c, int job, int argc, char *const *argv) {
    int i = 0;
    if (!c->children || !c->fds)
        return false;
    while (i < c->n && c->children[i].job >= 0)
        i++;
    if (i == c->n && !start(c, argc, argv))
        return false;
    struct child *one = &c->children[i];
    one->job = job;
    c->running++;
    (void)send(one->fd, &job, sizeof job, MSG_NOSIGNAL); /* if the child is dead, finish() finds this out */
    return true;
}

/* Begins wanted jobs, up to `parallel` at a time. Returns the number of jobs that were not wanted. */
static int begin(struct crew *c, int n, int argc, char *const *argv, const struct jobs_watch *w) {
    int unwanted = 0;
    while (c->next < n && c->running < c->parallel) {
        if (w->wanted && !w->wanted(w->ctx, c->next)) {
            c->next++;
            unwanted++;
        } else if (give(c, c->next, argc, argv)) {
            c->next++;
        } else {
            break;
        }
    }
    return unwanted;
}

/* Returns the number of a job that ended, or -1 if none ends within 0.2 seconds. If no child is running, because none
 * could be started, runs the next job in this process. */
static int one_ends(struct crew *c, int n, int argc, char *const *argv) {
    if (c->running) {
        int i = attend(c);
        return i < 0 ? -1 : finish(c, i);
    }
    if (c->next >= n)
        return -1;
    job_run(&c->jobs[c->next], argc, argv);
    interrupt_guard(NULL);
    return c->next++;
}

void jobs_run(struct job *jobs, int n, int parallel, int argc, char *const *argv, const struct jobs_watch *w) {
    struct crew c = {.jobs = jobs, .parallel = parallel < n ? parallel : n};
    size_t room = (size_t)(c.parallel > 0 ? c.parallel : 1);
    int finished = 0;
    c.children = calloc(room, sizeof *c.children);
    c.fds = calloc(room, sizeof *c.fds);
    interrupt_guard(NULL);
    while (finished < n && !interrupt_signal()) {
        finished += begin(&c, n, argc, argv, w);
        int job = one_ends(&c, n, argc, argv);
        finished += job >= 0;
        if (job >= 0 && w->ended && jobs[job].status != HEDDLE_STOPPED)
            w->ended(w->ctx, job);
        if (w->tick)
            w->tick(w->ctx, finished);
    }
    for (int i = 0; i < c.n; i++)
        if (c.children[i].job >= 0)
            kill(c.children[i].pid, SIGTERM);
    while (c.n) {
        int job = c.children[c.n - 1].job, how = dismiss(&c, c.n - 1);
        if (job >= 0)
            lose(&jobs[job], how, false);
    }
    while (c.next < n)
        job_skip(&jobs[c.next++]);
    interrupt_unguard();
    free(c.children);
    free(c.fds);
}
