/* ptx_run(): runs PTX text on the caller's memory in one call, like the function of GPU Ocelot's library. */
#include "context.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { FIRST_PLACES = 256, MOST_SOURCES = 4096 };

/* A compiled source, kept for later calls. Each call starts with the initial values of the variables, so callers cannot
 * notice that the compiled source is reused. */
struct source {
    struct heddle_module *module; /* NULL if the entry is empty */
    uint64_t hash;
    const char *kernel;
    const struct program *program;
    unsigned char *variables; /* initial values of all variables; NULL if no variable can change */
};

/* State of the process. It is global because the function has no context argument. */
static struct {
    pthread_mutex_t lock;
    struct heddle *h;
    /* process that opened the context; a forked child cannot use the context, because it does not inherit the
     * threads */
    pid_t owner;
    struct source *sources;
    /* n: number of entries in use; places: size of the table, a power of two, of which at most half is in use */
    size_t n, places;
    struct sigaction segv, bus;
    char running[512]; /* end of the message that the signal handler prints */
} run = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fputs("ptx_run: ", stderr);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fflush(stderr);
    abort();
}

static bool changes(const struct image_variable *v) { return v->space == SPACE_GLOBAL && !v->is_extern; }

/* Saves the values of the module's variables. With `back`, restores the saved values instead. */
static void move_variables(const struct source *s, bool back) {
    const struct image *img = s->module->image;
    unsigned char *at = s->variables;
    for (uint32_t i = 0; at && i < img->n_variables; i++) {
        const struct image_variable *v = &img->variables[i];
        if (changes(v) && v->bytes) {
            if (back ? !mem_write(&run.h->memory, v->address, at, v->bytes)
                     : !mem_read(&run.h->memory, v->address, at, v->bytes))
                give_up("variable '%s' is lost\n", v->name);
            at += v->bytes;
        }
    }
}

static void keep_variables(struct source *s) {
    const struct image *img = s->module->image;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < img->n_variables; i++)
        bytes += changes(&img->variables[i]) ? img->variables[i].bytes : 0;
    if (bytes && !(s->variables = malloc(bytes)))
        give_up("the host is out of memory\n");
    move_variables(s, false);
}

static void open_context(void) {
    const char *threads = getenv("HEDDLE_THREADS");
    char err[512];
    run.h = heddle_open(
        &(struct heddle_options){.model = "functional", .threads = threads ? (uint32_t)strtoul(threads, NULL, 10) : 1},
        err, sizeof err);
    if (!run.h)
        give_up("%s\n", err);
    mem_map_host(&run.h->memory);
    run.owner = getpid();
}

/* Drops all sources. In a forked child, the parent's context is abandoned, not closed. */
static void start_anew(void) {
    for (size_t i = 0; i < run.places; i++)
        free(run.sources[i].variables);
    free(run.sources);
    if (run.owner == getpid())
        heddle_close(run.h);
    run.h = NULL;
    run.sources = NULL;
    run.n = run.places = 0;
}

/* Returns the entry of the source with this hash and text, or the empty entry for it. */
static struct source *place_of(struct source *in, size_t places, uint64_t hash, const char *text) {
    size_t i = hash & (places - 1);
    while (in[i].module && (in[i].hash != hash || strcmp(in[i].module->text, text) != 0))
        i = (i + 1) & (places - 1);
    return &in[i];
}

static void grow_sources(void) {
    size_t places = run.places ? 2 * run.places : FIRST_PLACES;
    struct source *more = calloc(places, sizeof *more);
    if (!more)
        give_up("the host is out of memory\n");
    for (size_t i = 0; i < run.places; i++)
        if (run.sources[i].module)
            *place_of(more, places, run.sources[i].hash, run.sources[i].module->text) = run.sources[i];
    free(run.sources);
    run.sources = more;
    run.places = places;
}

/* Returns the kernel with the alphabetically first name, as GPU Ocelot does. */
static const char *first_kernel(const struct heddle_module *m) {
    for (int i = 0; i < m->n_kernels + m->n_functions; i++)
        if (m->by_name[i] < m->n_kernels)
            return m->lowered[m->by_name[i]].name;
    return NULL;
}

static const struct source *find_source(const char *text) {
    size_t len = strlen(text);
    uint64_t hash = XXH3_64bits(text, len);
    if (run.h && (run.owner != getpid() || run.n >= MOST_SOURCES))
        start_anew();
    if (!run.h)
        open_context();
    if (2 * run.n >= run.places)
        grow_sources();
    struct source *s = place_of(run.sources, run.places, hash, text);
    if (s->module)
        return s;
    struct source made = {.hash = hash, .module = heddle_module_text(run.h, "the source", text, len)};
    if (!made.module)
        give_up("%s", heddle_error(run.h));
    made.kernel = first_kernel(made.module);
    if (!made.kernel)
        give_up("the source has no kernel\n");
    made.program = module_program(run.h, made.module, made.kernel);
    if (!made.program)
        give_up("%s", heddle_error(run.h));
    keep_variables(&made);
    run.n++;
    *s = made;
    return s;
}

/* Handles a fault of a kernel outside of the process's memory: prints the message, restores the process's own handlers,
 * and returns. The access then faults again, and the process's handlers run. */
static void on_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    uintptr_t at = (uintptr_t)info->si_addr;
    char text[32] = "ptx_run: address 0x0000000000000";
    size_t len = 19;
    for (int shift = 44; shift >= 0; shift -= 4)
        text[len++] = "0123456789abcdef"[at >> shift & 15];
    if (write(STDERR_FILENO, text, len) < 0 || write(STDERR_FILENO, run.running, strlen(run.running)) < 0)
        _exit(HEDDLE_FAULT);
    sigaction(number, number == SIGSEGV ? &run.segv : &run.bus, NULL);
}

static void launch(const struct source *s, const struct heddle_arg *args, int n, struct heddle_dim grid,
                   struct heddle_dim block, uint32_t shared) {
    struct sigaction mine = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    snprintf(run.running, sizeof run.running, " is not mapped, or is read-only: kernel '%.400s' accessed it\n",
             s->kernel);
    sigaction(SIGSEGV, &mine, &run.segv);
    sigaction(SIGBUS, &mine, &run.bus);
    enum heddle_status status = heddle_launch(run.h, s->module, s->kernel, grid, block, shared, args, n);
    sigaction(SIGSEGV, &run.segv, NULL);
    sigaction(SIGBUS, &run.bus, NULL);
    if (status != HEDDLE_OK)
        give_up("%s", heddle_error(run.h));
    while (run.h->n_launches) /* their statistics are unreachable */
        launch_record_free(&run.h->launches[--run.h->n_launches]);
}

void ptx_run(const char *src, int n_args, void **args, int bx, int by, int bz, int gx, int gy, int gz, int shmem) {
    if (!src || (n_args > 0 && !args))
        give_up("%s NULL\n", src ? "the arguments are" : "the source is");
    pthread_mutex_lock(&run.lock);
    const struct source *s = find_source(src);
    if (n_args < 0 || (uint32_t)n_args != s->program->n_params)
        give_up("kernel '%s' has %u parameter%s, and %d argument%s given\n", s->kernel, s->program->n_params,
                s->program->n_params == 1 ? "" : "s", n_args, n_args == 1 ? " was" : "s were");
    struct heddle_arg *list = calloc((size_t)n_args + 1, sizeof *list);
    if (!list)
        give_up("the host is out of memory\n");
    for (int i = 0; i < n_args; i++) {
        list[i] = (struct heddle_arg){&args[i], s->program->params[i].bytes};
        if (list[i].bytes > sizeof *args)
            give_up("kernel '%s': parameter %d has %zu bytes, and only 8 can be given\n", s->kernel, i + 1,
                    list[i].bytes);
    }
    move_variables(s, true);
    launch(s, list, n_args, (struct heddle_dim){(uint32_t)gx, (uint32_t)gy, (uint32_t)gz},
           (struct heddle_dim){(uint32_t)bx, (uint32_t)by, (uint32_t)bz}, (uint32_t)shmem);
    free(list);
    pthread_mutex_unlock(&run.lock);
}
