#include "job.h"
#include "host/report/interrupt.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void job_free(struct job *j) {
    free(j->message);
    free(j->notes);
    cJSON_Delete(j->result);
    j->message = j->notes = NULL;
    j->result = NULL;
}

double job_stat(const struct job *j, const char *name) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(j->result, "stats"), name);
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

/* Returns the context's statistics as a cJSON tree, parsed from the text that the library writes. */
static cJSON *result_of(struct heddle *h, const struct job *j, int argc, char *const *argv) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    bool fine = heddle_write_json(h, f, argc, argv, unchecked(j) ? -1 : j->status == HEDDLE_OK) == HEDDLE_OK;
    fclose(f);
    cJSON *o = fine ? cJSON_Parse(text) : NULL;
    free(text);
    if (o && !cJSON_AddStringToObject(o, "benchmark", j->bench->name)) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
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
        if (!(j->result = result_of(h, j, argc, argv))) {
            j->status = HEDDLE_USAGE;
            say(j, "the host is out of memory");
        }
    }
}

void job_run(struct job *j, int argc, char *const *argv) {
    char err[1024];
    struct heddle *h = heddle_open(&j->options, err, sizeof err);
    if (!h) {
        j->status = HEDDLE_USAGE;
        say(j, err);
        return;
    }
    interrupt_guard(h);
    run_in(j, h, argc, argv);
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

/* A child process that runs job number `job`, and the bytes that its pipe has delivered so far. */
struct child {
    pid_t pid;
    int fd;
    int job;
    char *text;
    size_t len, cap;
};

static void write_all(int fd, const char *text, size_t len) {
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

/* Runs the job in the child process and sends its outcome to the parent as JSON. */
static void serve(struct job *j, int fd, int argc, char *const *argv) {
    interrupt_forget_all();
    j->options.progress = false;
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
    if (text)
        write_all(fd, text, strlen(text));
    cJSON_free(text);
    cJSON_Delete(o);
    job_free(j);
}

static bool start(struct child *c, struct job *jobs, int i, int argc, char *const *argv) {
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (pid == 0) {
        /* ends the child when the parent ends, because only the parent can read the result */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        serve(&jobs[i], ends[1], argc, argv);
        _exit(0); /* not exit(): buffers and exit handlers belong to the parent */
    }
    close(ends[1]);
    *c = (struct child){.pid = pid, .fd = ends[0], .job = i};
    return true;
}

/* Reads some bytes from the child's pipe. Returns false at the end of the pipe, or if memory ran out. */
static bool take(struct child *c) {
    if (c->cap - c->len < 65536) {
        char *more = realloc(c->text, c->cap + (1 << 18));
        if (!more)
            return false;
        c->text = more;
        c->cap += 1 << 18;
    }
    ssize_t n = read(c->fd, c->text + c->len, c->cap - c->len - 1);
    if (n > 0)
        c->len += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

static void finish(struct child *c, struct job *j) {
    int how = 0;
    close(c->fd);
    while (waitpid(c->pid, &how, 0) < 0 && errno == EINTR)
        continue;
    cJSON *o = c->len ? cJSON_ParseWithLength(c->text, c->len) : NULL;
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(o, "status");
    const cJSON *message = cJSON_GetObjectItemCaseSensitive(o, "message");
    const cJSON *notes = cJSON_GetObjectItemCaseSensitive(o, "notes");
    if (cJSON_IsNumber(status)) {
        j->status = (enum heddle_status)status->valueint;
        j->limited = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "limited"));
        if (cJSON_IsString(message))
            say(j, message->valuestring);
        if (cJSON_IsString(notes))
            set_text(&j->notes, notes->valuestring);
        j->result = cJSON_DetachItemFromObjectCaseSensitive(o, "result");
    } else if (interrupt_signal()) {
        j->status = HEDDLE_STOPPED;
        say(j, "stopped");
    } else {
        /* a child that ends normally sends an outcome, unless it has no memory for the text */
        if (WIFEXITED(how) && WEXITSTATUS(how) == 0) {
            j->status = HEDDLE_USAGE;
            say(j, "the host is out of memory");
            free(c->text);
            return;
        }
        char text[96];
        snprintf(text, sizeof text, "the simulation's process ended early (%s %d)",
                 WIFSIGNALED(how) ? "signal" : "status", WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        j->status = HEDDLE_FAULT;
        j->lost = true;
        say(j, text);
    }
    cJSON_Delete(o);
    free(c->text);
}

/* Waits at most 0.2 seconds for data from the children, and reads it. Returns the index of a child whose pipe has
 * ended, or -1. */
static int attend(struct child *c, int n, struct pollfd *fds) {
    for (int i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = c[i].fd, .events = POLLIN};
    if (n < 1 || poll(fds, (nfds_t)n, 200) < 0)
        return -1;
    for (int i = 0; i < n; i++)
        if (fds[i].revents && !take(&c[i]))
            return i;
    return -1;
}

/* The jobs, and the processes of the `running` jobs. All jobs before number `next` have begun or were not wanted. */
struct crew {
    struct job *jobs;
    /* the processes of the running jobs; if `children` or `fds` is NULL, memory ran out, and the jobs run in this
     * process */
    struct child *children;
    struct pollfd *fds;
    int parallel, next, running;
};

/* Begins wanted jobs, up to `parallel` at a time. Returns the number of jobs that were not wanted. */
static int begin(struct crew *c, int n, int argc, char *const *argv, const struct jobs_watch *w) {
    int unwanted = 0;
    while (c->next < n && c->running < c->parallel) {
        if (w->wanted && !w->wanted(w->ctx, c->next)) {
            c->next++;
            unwanted++;
        } else if (c->children && c->fds && start(&c->children[c->running], c->jobs, c->next, argc, argv)) {
            c->running++;
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
        int i = attend(c->children, c->running, c->fds);
        if (i < 0)
            return -1;
        int job = c->children[i].job;
        finish(&c->children[i], &c->jobs[job]);
        c->children[i] = c->children[--c->running];
        return job;
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
    for (int i = 0; i < c.running; i++)
        kill(c.children[i].pid, SIGTERM);
    for (int i = 0; i < c.running; i++)
        finish(&c.children[i], &jobs[c.children[i].job]);
    while (c.next < n)
        job_skip(&jobs[c.next++]);
    interrupt_unguard();
    free(c.children);
    free(c.fds);
}
