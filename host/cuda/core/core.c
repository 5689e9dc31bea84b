/* Opens the GPU, prints messages, and finishes the process. */
#include "core_module.h"
#include "core_report.h"
#include "core_runner.h"
#include "core_signals.h"
#include "host/load/elf_load.h"
#include "host/load/follow.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int major = 13;

CUDA_API void heddle_cuda_major(int number) { major = number; }
int cuda_major(void) { return major; }

static double host_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t env_number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : 0;
}

/* Returns a new list: the words of `first`, then the words of `text`, the value of HEDDLE_SET ("key=value
 * key=value"). */
static const char **split_words(const char *const *first, char *text) {
    size_t n = 0;
    const char **words = calloc(strlen(text) / 2 + 2 + FOLLOW_OPTIONS, sizeof *words);
    char *rest = text;
    while (words && *first)
        words[n++] = *first++;
    for (char *word; words && (word = strtok_r(rest, " \n", &rest));)
        words[n++] = word;
    return words;
}

/* Reports at the end of the program. If the program would exit with 0 although a kernel failed, changes the exit status
 * to the status of the failure. */
static void at_exit(int status, void *unused) {
    (void)unused;
    if (cuda_core.forked)
        return;
    CUDA_LOCK;
    cuda_report(status);
    live_close(cuda_core.live);
    if (status == 0 && cuda_core.worst != HEDDLE_OK) {
        fflush(NULL);
        _exit((int)cuda_core.worst);
    }
}

static void watch_exit(void) {
    int *used = dlsym(RTLD_DEFAULT, "heddle_redirect_used"); /* in libheddle-redirect.so, under 'heddle exec' */
    if (used)
        *used = 1;
    on_exit(at_exit, NULL);
}
/* Makes at_exit() run at the end of the process. */
static void report_at_exit(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_exit);
}

static void after_fork(void) {
    static const pthread_mutex_t open = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    cuda_core.forked = true;
    /* a thread of the parent may hold the lock; this thread does not exist in the child and cannot release the lock */
    cuda_core.lock = open;
    cuda_core.depth = 0;
    cuda_core.begin = cuda_core.end = NULL;
    cuda_runner_forget();
}

/* Reserves the device's address range in the host's address space, without memory, so that no host pointer looks
 * like a device pointer. In a program that is not position-independent, the heap of malloc() begins below the range
 * and would otherwise grow into it. If the reservation fails, the program runs anyway. */
static void keep_addresses(struct heddle *h) {
    enum { PIECE = 1 << 20 };
    uint64_t first = heddle_alloc(h, 1);
    void *at = (void *)(uintptr_t)(first / PIECE * PIECE);
    for (uint64_t bytes = 1ull << 40; first && bytes >= 1ull << 32; bytes /= 16) {
        void *p = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == at) {
            cuda_core.range = (uint64_t)(uintptr_t)at;
            cuda_core.range_bytes = bytes;
            break;
        }
        if (p != MAP_FAILED)
            munmap(p, bytes);
    }
    heddle_free(h, first);
}

/* Serves the live page (HEDDLE_LIVE) until the program ends. */
static void serve(struct heddle_options *o) {
    const char *where = getenv("HEDDLE_LIVE");
    char err[1024];
    if (!where || !*where)
        return;
    if (!(cuda_core.live = live_open(where, program_invocation_name, err, sizeof err))) {
        fprintf(stderr, "heddle: HEDDLE_LIVE: %s\n", err);
        return;
    }
    fprintf(stderr, "heddle: live at %s until the program ends\n", live_address(cuda_core.live));
    live_watch(cuda_core.live, o);
}

/* Returns the architecture (75 for compute_75) of the newest PTX in the registered containers. If they have no PTX,
 * returns that of the program's file, because a constructor may use the GPU before the registration. Returns 0 if there
 * is no PTX. */
static uint32_t newest_ptx(void) {
    uint32_t newest = 0;
    for (const struct cuda_module *m = cuda_core.modules; m; m = m->next)
        for (int i = 0; i < m->n; i++) {
            uint32_t arch = fatbin_newest(m->containers[i], fatbin_bytes(m->containers[i]));
            newest = arch > newest ? arch : newest;
        }
    struct stat st;
    struct device_code code = {0};
    int fd = newest ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *file = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0
                     ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                     : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (file != MAP_FAILED) {
        elf_device_code(file, (size_t)st.st_size, UINT32_MAX, &code);
        munmap(file, (size_t)st.st_size);
    }
    newest = newest ? newest : device_code_newest(&code);
    device_code_free(&code);
    return newest;
}

/* Chooses the machine configuration for the newest PTX, and prints its name. */
static void choose_machine(struct follow *f) {
    const char *quiet = getenv("HEDDLE_QUIET");
    uint32_t arch = newest_ptx();
    char ptx[64] = "no PTX is loaded yet";
    follow_ptx(f, arch);
    if (quiet && *quiet)
        return;
    if (arch)
        snprintf(ptx, sizeof ptx, "the program's newest PTX is compute_%u", arch);
    fprintf(stderr, "heddle: %s: machine '%s'", ptx, f->preset);
    for (int i = 0; f->set[i]; i++)
        fprintf(stderr, "%s%s", i ? " " : " with ", f->set[i]);
    fprintf(stderr, " ('heddle exec -c' takes another)\n");
}

/* Reads the variables that 'heddle exec' sets for its options about launches and memory (docs/checkpoints.md). */
static void choose_launches(struct heddle_options *o) {
    const char *file = getenv("HEDDLE_CHECKPOINT"), *at = getenv("HEDDLE_CHECKPOINT_AT"),
               *time = getenv("HEDDLE_TIME_LAUNCH"), *folder = getenv("HEDDLE_MEMORY_DIR");
    unsigned long long launch = 0, cta = 0;
    if (at)
        sscanf(at, "%llu:%llu", &launch, &cta);
    o->checkpoint = file && *file ? file : NULL;
    o->checkpoint_launch = launch;
    o->checkpoint_cta = cta;
    o->time_launches = time && *time ? time : NULL;
    o->memory_folder = folder && *folder ? folder : NULL;
}

static void open_context(void) {
    static struct follow follow; /* static, because the open GPU keeps pointers to these strings */
    struct cuda_core *r = &cuda_core;
    const char *set = getenv("HEDDLE_SET"), *model = getenv("HEDDLE_MODEL"), *config = getenv("HEDDLE_CONFIG"),
               *bounds = getenv("HEDDLE_CHECK_BOUNDS");
    char *copy = strdup(set ? set : ""), err[1024] = "the host is out of memory";
    if (!config || !*config) {
        choose_machine(&follow);
        config = follow.preset;
    }
    const char **words = copy ? split_words(follow.set, copy) : NULL;
    struct heddle_options o = {.model = model,
                               .config = config,
                               .set = words,
                               .threads = (uint32_t)env_number("HEDDLE_THREADS"),
                               .cycle_limit = env_number("HEDDLE_CYCLE_LIMIT"),
                               .memory_limit = env_number("HEDDLE_MEMORY"),
                               .check = env_number("HEDDLE_CHECK") != 0,
                               .page_bounds = bounds && strcmp(bounds, "page") == 0,
                               .stands = cuda_runner_stands};
    choose_launches(&o);
    serve(&o);
    r->options = o;
    o.plan = cuda_open_plan();
    r->check = o.check;
    r->functional = model ? strncmp(model, "functional", 10) == 0 : o.check;
    r->h = words ? heddle_open(&o, err, sizeof err) : NULL;
    r->started = host_seconds();
    if (!r->h) {
        fprintf(stderr, "heddle: %s\n", err);
        r->broken = true;
        r->worst = HEDDLE_USAGE;
    }
    if (r->h) {
        keep_addresses(r->h);
        cuda_catch_signals();
    }
    pthread_atfork(NULL, NULL, after_fork);
    report_at_exit();
}

enum cuda_error cuda_enter(void) {
    struct cuda_core *r = &cuda_core;
    cuda_lock();
    if (!r->h && !r->broken)
        open_context();
    if (!cuda_current_context)
        cuda_current_context = &cuda_primary_context;
    return r->broken || r->forked ? CUDA_ErrorInitializationError : r->sticky;
}

enum cuda_error cuda_open(void) {
    struct cuda_context *current = cuda_current_context;
    enum cuda_error e = cuda_enter();
    /* cuda_enter() may have made the primary context current, which cuda_open() must not do */
    cuda_current_context = current;
    bool broken = cuda_core.broken;
    cuda_leave();
    return broken ? CUDA_ErrorNoDevice : e;
}

/* Returns true if the address is mapped memory of the host, outside of the device's address range. */
static bool is_of_host(uint64_t address) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    return cuda_core.range_bytes && address - cuda_core.range >= cuda_core.range_bytes &&
           mincore((void *)(uintptr_t)(address / page * page), 1, &resident) == 0;
}

/* Returns the name of the variable that the host variable at `address` represents; NULL if there is none. */
static const char *variable_at(uint64_t address) {
    for (int i = 0; i < CUDA_CHAINS; i++)
        for (const struct cuda_variable *v = cuda_core.variables[i]; v; v = v->next)
            if (address - (uint64_t)(uintptr_t)v->shadow < v->bytes)
                return v->name;
    return NULL;
}

/* Prints help if the latest error is about an address of the host that kernels and copies cannot use. */
static void help_with_host_address(const struct heddle_error_facts *facts) {
    enum { FAR = 1 << 20 }; /* an address nearer to a buffer is more likely an index out of bounds */
    const bool far = facts->address && facts->distance >= FAR;
    const char *variable = far ? variable_at(facts->address) : NULL;
    if (variable)
        fprintf(stderr,
                "  help: it is the host's address of variable '%s'; cudaGetSymbolAddress() returns the device's\n",
                variable);
    else if (far && is_of_host(facts->address))
        fputs("  help: it is an address of the host; cudaMalloc() and cudaMallocManaged() return memory for kernels\n",
              stderr);
}

static void print(const char *who, const char *why) {
    char name[256]; /* of the function, or of the kernel as in the source */
    heddle_demangle(who, name, sizeof name);
    fflush(stdout);
    fprintf(stderr, "heddle: %s: %s", name, why);
}

enum cuda_error cuda_complain(const char *who, enum cuda_error e) {
    struct heddle_error_facts facts;
    print(who, heddle_error(cuda_core.h));
    heddle_error_facts(cuda_core.h, &facts);
    help_with_host_address(&facts);
    return e;
}

enum cuda_error cuda_refuse(const char *who, const char *why, enum cuda_error e) {
    struct cuda_core *r = &cuda_core;
    print(who, why);
    r->worst = r->worst == HEDDLE_OK ? HEDDLE_USAGE : r->worst;
    if (!r->why)
        r->why = strdup(why);
    return e;
}

enum cuda_error cuda_failed(const char *who, enum heddle_status status, enum cuda_error e) {
    struct cuda_core *r = &cuda_core;
    struct heddle_error_facts facts;
    cuda_complain(who, e);
    heddle_error_facts(r->h, &facts);
    if (status == HEDDLE_FAULT && facts.no_source)
        fputs("  help: nvcc -lineinfo adds the line of CUDA\n", stderr);
    if (status == HEDDLE_FAULT && facts.page_bounds)
        fputs("  help: a GPU may not notice this access; with --check-bounds page, Heddle allows it\n", stderr);
    r->worst = status;
    if (!r->why)
        r->why = strdup(heddle_error(r->h));
    return e;
}

void cuda_program_wrong(void) {
    report_at_exit();
    CUDA_LOCK;
    cuda_core.worst = HEDDLE_USAGE;
}

enum cuda_error cuda_missing(const char *name, bool *printed, const char *error) {
    if (!*printed)
        fprintf(stderr, "heddle: %s is not supported: it returns %s\n", name, error);
    *printed = true;
    return CUDA_ErrorNotSupported;
}

double cuda_clock(void) {
    const struct cuda_core *r = &cuda_core;
    if (r->functional || r->options.time_launches) /* functional launches take no simulated time */
        return host_seconds() - r->started;
    double cycles = heddle_stat(r->h, -1, "gpu.cycles"), mhz = heddle_option(r->h, "clock.core_mhz");
    return cycles > 0 ? cycles / (1e6 * mhz) : 0;
}

static const struct error_row {
    int number;
    const char *name, *text;
} errors[] = {
#define CUDA_ERROR(name, number, text) {number, "cuda" #name, text},
#include "errors.def"
#undef CUDA_ERROR
};

static const char unrecognized[] = "unrecognized error code";

static const struct error_row *find_error(enum cuda_error e) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].number == (int)e)
            return &errors[i];
    return NULL;
}

const char *cuda_error_name(enum cuda_error e) {
    const struct error_row *row = find_error(e);
    return row ? row->name : unrecognized;
}

const char *cuda_error_text(enum cuda_error e) {
    const struct error_row *row = find_error(e);
    return row ? row->text : unrecognized;
}
