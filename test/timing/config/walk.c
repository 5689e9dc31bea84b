#include "walk.h"
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CTAS = 3, THREADS = 64, N = CTAS * THREADS, IN = 4096, SIDE = 16, CYCLES = 2000000000, CPU_SECONDS = 20 };
const char *const walk_configs[WALK_CONFIGS] = {"fermi", "turing-rtx2060", "tiny", "volta-classic", "gt200", "turing"};

/* The outcome of a launch: its status, the memory contents after the kernel, and the error message. */
struct outcome {
    enum heddle_status status;
    uint32_t out[N], sum[2];
    char message[1024];
};
static struct outcome want;
static struct walk_counts counts;

static void run(const struct heddle_options *o, struct outcome *r) {
    char err[1024] = "";
    memset(r, 0, sizeof *r);
    struct heddle *h = heddle_open(o, err, sizeof err);
    if (!h) {
        r->status = HEDDLE_USAGE;
        snprintf(r->message, sizeof r->message, "%s", err);
        return;
    }
    uint32_t in[IN], texels[SIDE * SIDE], pair[2] = {1, 77};
    uint64_t seed = 1;
    for (uint32_t i = 0; i < IN; i++)
        in[i] = (uint32_t)test_random(&seed);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        texels[i] = i * i;
    struct heddle_module *m = heddle_module_file(h, "test/kernels/spaces.ptx");
    uint64_t din = heddle_alloc(h, sizeof in + 64 * N), dout = heddle_alloc(h, sizeof r->out),
             dsum = heddle_alloc(h, sizeof r->sum), dtex = heddle_alloc(h, sizeof texels);
    struct heddle_texture t = {
        .data = dtex, .width = SIDE, .height = SIDE, .format = HEDDLE_U32, .sampler = {.address = {HEDDLE_CLAMP}}};
    struct heddle_arg args[] = {{&din, 8}, {&dout, 8}, {&dsum, 8}, {pair, 8}};
    struct heddle_dim grid = {CTAS, 1, 1}, block = {THREADS, 1, 1};
    heddle_write(h, din, in, sizeof in);
    heddle_write(h, dtex, texels, sizeof texels);
    if (m && heddle_bind_texture(h, m, "image", &t) == HEDDLE_OK)
        r->status = heddle_launch(h, m, "spaces", grid, block, 0, args, 4);
    else
        r->status = heddle_status(h);
    snprintf(r->message, sizeof r->message, "%s", heddle_error(h));
    heddle_read(h, dout, r->out, sizeof r->out);
    heddle_read(h, dsum, r->sum, sizeof r->sum);
    heddle_close(h);
}

void walk_begin(void) {
    counts = (struct walk_counts){0};
    run(&(struct heddle_options){.model = "functional"}, &want);
    ck_assert_msg(want.status == HEDDLE_OK, "%s", want.message);
}

struct walk_counts walk_counts(void) {
    return counts;
}

static bool right(const struct outcome *r) {
    return memcmp(r->out, want.out, sizeof r->out) == 0 && memcmp(r->sum, want.sum, sizeof r->sum) == 0;
}

/* Runs in the child process. Returns 0 if the memory contents are right. Otherwise writes the error to the pipe, and
 * returns 2 if heddle refused the run with a message, else another status. */
static int judge(const struct heddle_options *o, int to) {
    static struct outcome r;
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS});
    run(o, &r);
    if (r.status == HEDDLE_OK && right(&r))
        return 0;
    const char *what = r.status == HEDDLE_OK ? "wrong results" : r.message;
    if (write(to, what, strlen(what)) < 0)
        return 99;
    return r.status == HEDDLE_USAGE && *r.message ? 2 : 1;
}

static const char *describe(const struct heddle_options *o, int how, const char *message) {
    static char text[4096];
    int n = snprintf(text, sizeof text, "%s on %s", o->model, o->config);
    for (const char *const *s = o->set; *s; s++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s", *s);
    if (WIFSIGNALED(how))
        snprintf(text + n, sizeof text - (size_t)n, ": signal %d %s", WTERMSIG(how), message);
    else
        snprintf(text + n, sizeof text - (size_t)n, ": status %d %s", WEXITSTATUS(how), message);
    return text;
}

const char *walk_run(const char *model, const char *config, const char *const *set) {
    struct heddle_options o = {.model = model, .config = config, .set = set, .cycle_limit = CYCLES};
    int ends[2], how;
    char message[1024] = "";
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(judge(&o, ends[1]));
    close(ends[1]);
    for (ssize_t n = 0, got; (got = read(ends[0], message + n, sizeof message - 1 - (size_t)n)) > 0; n += got)
        message[n + got] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    counts.runs++;
    counts.ended += WIFEXITED(how) && WEXITSTATUS(how) == 0;
    if (WIFEXITED(how) && (WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == 2)) {
        if (getenv("WALK_SAY") && *message)
            fprintf(stderr, "%s\n", describe(&o, how, message));
        return NULL;
    }
    return describe(&o, how, message);
}

static bool choice(const char *choices, int n, char *out, size_t size) {
    for (; n && *choices; n--) {
        choices += strcspn(choices, " ");
        choices += strspn(choices, " ");
    }
    snprintf(out, size, "%.*s", (int)strcspn(choices, " "), choices);
    return *out;
}

bool walk_value(const struct opt *o, int n, char *out, size_t size) {
    static const double odd[] = {3, 33, 1000, 48, 4097, 5, 7, 100};
    double values[5 + sizeof odd / sizeof odd[0]] = {o->min, o->max, o->def, o->min + 1, o->max - 1};
    int count = 5;
    switch (o->kind) {
    case OPT_KIND_ENUM:
        return choice(o->choices, n, out, size);
    case OPT_KIND_BOOL:
        snprintf(out, size, n ? "on" : "off");
        return n < 2;
    case OPT_KIND_STRING:
        snprintf(out, size, "%s", n ? "x" : "");
        return n < 2;
    case OPT_KIND_U32:
        for (size_t i = 0; i < sizeof odd / sizeof odd[0] && (count < 7 || getenv("HEDDLE_WALK")); i++)
            if (odd[i] > o->min && odd[i] < o->max)
                values[count++] = odd[i];
        break;
    case OPT_KIND_DOUBLE:
        values[count++] = o->min * 1.7 + 0.001;
    }
    if (n >= count)
        return false;
    snprintf(out, size, "%.10g", values[n] < o->min ? o->min : values[n] > o->max ? o->max : values[n]);
    return true;
}
