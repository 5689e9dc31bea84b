/* heddle_extract(): writes one launch of a file of launches to a file of its own, with the pages of device memory that
 * the launch accesses. Page protection finds these pages: the first access to a page raises SIGSEGV. */
#include "launch_file.h"
#include "recorder.h"
#include "replay.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The watched storage of an allocation. */
struct watched {
    unsigned char *live;    /* storage in which the launch runs; a page has no access rights until its first access */
    unsigned char *before;  /* the storage with the bytes before the launch, which the allocation owns */
    uint64_t bytes, mapped; /* bytes of the allocation; bytes of the mapping at `live` */
    uint64_t address;       /* device address */
    volatile unsigned char *accessed; /* by page */
};

/* The handler of SIGSEGV needs this state, so only one extraction at a time can run in a process. */
static struct watch_state {
    struct watched *list;
    volatile uint32_t n;
    struct sigaction old;
    atomic_flag busy;
} state = {.busy = ATOMIC_FLAG_INIT};

static void on_access(int signal, siginfo_t *info, void *context) {
    unsigned char *at = info->si_addr;
    for (uint32_t i = 0; i < state.n; i++) {
        struct watched *w = &state.list[i];
        if (at < w->live || at >= w->live + w->mapped)
            continue;
        const uint64_t page = (uint64_t)(at - w->live) / LAUNCH_FILE_PAGE;
        if (mprotect(w->live + page * LAUNCH_FILE_PAGE, LAUNCH_FILE_PAGE, PROT_READ | PROT_WRITE) != 0)
            break;
        w->accessed[page] = 1;
        return;
    }
    /* The access is outside the watched storage: the previous handler or the default action gets the signal. */
    if (state.old.sa_flags & SA_SIGINFO)
        state.old.sa_sigaction(signal, info, context);
    else
        sigaction(signal, &state.old, NULL);
}

static bool watch_one(struct allocation *a, struct watched *w) {
    *w = (struct watched){.before = a->host, .bytes = a->end - a->begin, .address = a->begin};
    w->mapped = (w->bytes + 64 + LAUNCH_FILE_PAGE - 1) / LAUNCH_FILE_PAGE * LAUNCH_FILE_PAGE;
    void *p = mmap(NULL, w->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    w->live = p;
    w->accessed = calloc(w->mapped / LAUNCH_FILE_PAGE, 1);
    if (!w->accessed)
        return false;
    memcpy(w->live, w->before, w->bytes);
    a->host = w->live;
    return mprotect(w->live, w->mapped, PROT_NONE) == 0;
}

/* Starts to watch all allocations. */
static bool watch_begin_all(struct memory *m) {
    struct sigaction on = {.sa_sigaction = on_access, .sa_flags = SA_SIGINFO};
    state.n = 0;
    state.list = calloc((size_t)m->n + 1, sizeof *state.list);
    for (uint32_t i = 0; state.list && i < m->n; i++)
        if (m->list[i].live && m->list[i].host) {
            state.n++;
            if (!watch_one(&m->list[i], &state.list[state.n - 1]))
                return false;
        }
    sigemptyset(&on.sa_mask);
    return state.list && sigaction(SIGSEGV, &on, &state.old) == 0;
}

static struct watched *watched_at(uint64_t address) {
    for (uint32_t i = 0; i < state.n; i++)
        if (state.list[i].address == address)
            return &state.list[i];
    return NULL;
}

/* Ends the watch: the allocations use their own storage again. */
static void watch_end_all(struct memory *m, bool handler) {
    if (handler)
        sigaction(SIGSEGV, &state.old, NULL);
    for (uint32_t i = 0; i < state.n; i++)
        if (state.list[i].live)
            mprotect(state.list[i].live, state.list[i].mapped, PROT_READ | PROT_WRITE);
    for (uint32_t i = 0; i < m->n; i++) {
        struct watched *w = m->list[i].live ? watched_at(m->list[i].begin) : NULL;
        if (w && w->live && m->list[i].host == w->live)
            m->list[i].host = w->before;
    }
}

static void watch_free(void) {
    for (uint32_t i = 0; i < state.n; i++) {
        if (state.list[i].live)
            munmap(state.list[i].live, state.list[i].mapped);
        free((void *)(uintptr_t)state.list[i].accessed);
    }
    free(state.list);
    state.list = NULL;
    state.n = 0;
}

static uint64_t pages(const struct watched *w) { return (w->bytes + LAUNCH_FILE_PAGE - 1) / LAUNCH_FILE_PAGE; }

static size_t bytes_of(const struct watched *w, uint64_t page) {
    const uint64_t rest = w->bytes - page * LAUNCH_FILE_PAGE;
    return rest < LAUNCH_FILE_PAGE ? rest : LAUNCH_FILE_PAGE;
}

/* Clears all pages that the launch did not access, and frees buffers without an accessed page. */
static bool keep_accessed(struct memory *m) {
    struct mem_saved *list = calloc((size_t)m->n + 1, sizeof *list);
    uint32_t n = 0;
    for (uint32_t i = 0; list && i < m->n; i++) {
        const struct allocation *a = &m->list[i];
        const struct watched *w = a->live && a->host ? watched_at(a->begin) : NULL;
        bool any = false;
        for (uint64_t k = 0; w && k < pages(w); k++) {
            any |= w->accessed[k];
            if (!w->accessed[k])
                memset(a->host + k * LAUNCH_FILE_PAGE, 0, bytes_of(w, k));
        }
        if (a->live && a->host && (any || a->name))
            list[n++] = (struct mem_saved){.begin = a->begin,
                                           .end = a->end,
                                           .name = a->name,
                                           .number = a->number,
                                           .serial = a->serial,
                                           .read_only = a->constant || a->read_only,
                                           .padded = a->padded,
                                           .read_range = a->reserved == RANGE_READ};
    }
    bool fine = list && mem_restore(m, list, n);
    free(list);
    return fine;
}

/* Returns true if every accessed page has the same bytes as after the first run. */
static bool same_result(const struct memory *m) {
    for (uint32_t i = 0; i < state.n; i++) {
        const struct watched *w = &state.list[i];
        const struct allocation *a = mem_find(m, w->address, w->bytes, NULL);
        for (uint64_t k = 0; k < pages(w); k++)
            if (w->accessed[k] &&
                (!a || memcmp(a->host + k * LAUNCH_FILE_PAGE, w->live + k * LAUNCH_FILE_PAGE, bytes_of(w, k)) != 0))
                return false;
    }
    return true;
}

/* Runs the launch with all pages watched. */
static enum heddle_status find_pages(struct replay *r, const struct replayed_launch *l) {
    struct heddle *h = r->h;
    const bool begun = watch_begin_all(&h->memory);
    enum heddle_status s = begun ? replay_run(r, l) : fail_memory(h);
    watch_end_all(&h->memory, begun);
    return s;
}

/* Creates the recorder of the new file. It copies the description of the recorded run from the old file. */
static struct recorder *recorder_like(const struct replay *r, const struct replayed_launch *l, const char *to) {
    char err[256];
    struct launch_file_info info;
    if (!launch_file_info(r->file.path, &info, err, sizeof err))
        return NULL;
    struct recorder *new = recorder_new(&(struct heddle_options){
        .model = info.model, .config = info.config, .set = info.set, .checkpoint = to, .checkpoint_launch = l->call});
    launch_file_info_free(&info);
    return new;
}

static enum heddle_status extract(struct replay *r, const struct replayed_launch *l, const char *to) {
    struct heddle *h = r->h;
    enum heddle_status s = find_pages(r, l);
    if (s != HEDDLE_OK)
        return s;
    if (!keep_accessed(&h->memory) || !(h->launches_to = recorder_like(r, l, to)))
        return fail_memory(h);
    recorder_only(h->launches_to, l->module);
    s = replay_run(r, l);
    if (s == HEDDLE_OK && !same_result(&h->memory))
        s = fail(h, HEDDLE_WRONG,
                 "launch %llu ('%s') left other bytes in device memory when it ran alone: its CTAs race, or it uses "
                 "malloc() or a clock; %s is not written",
                 (unsigned long long)l->call, l->packed.kernel, to);
    if (s == HEDDLE_OK)
        return heddle_checkpoint_end(h);
    recorder_close(h);
    unlink(to);
    return s;
}

enum heddle_status heddle_extract(struct heddle *h, const char *path, uint64_t launch, const char *to) {
    struct replay r;
    struct replayed_launch l;
    if (!context_enter(h) || !given(h, path, "the file's name") || !given(h, to, "the new file's name"))
        return HEDDLE_USAGE;
    if (h->gpu)
        return fail(h, HEDDLE_USAGE, "a launch is extracted in the functional model, not in '%s'", h->model_name);
    if (strcmp(path, to) == 0)
        return fail(h, HEDDLE_USAGE, "%s: the new file needs another name", to);
    enum heddle_status status = replay_open(&r, h, path, true);
    if (status != HEDDLE_OK)
        return status;
    const uint64_t first = r.file.first, end = first + r.file.launches;
    if (launch < first || launch >= end)
        status = fail(h, HEDDLE_USAGE, "%s: there is no launch %llu; the file has %llu to %llu", path,
                      (unsigned long long)launch, (unsigned long long)first, (unsigned long long)end - 1);
    else if (atomic_flag_test_and_set(&state.busy))
        status = fail(h, HEDDLE_USAGE, "another extraction runs in this process: wait until it has ended");
    else {
        while (replay_next(&r, &l, &status) && l.call < launch && (status = replay_run(&r, &l)) == HEDDLE_OK)
            continue;
        if (status == HEDDLE_OK)
            status = l.call == launch ? extract(&r, &l, to) : HEDDLE_USAGE;
        watch_free();
        atomic_flag_clear(&state.busy);
    }
    replay_close(&r);
    return status;
}
