#include "interrupt.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* An element of the list state.files: the path of a temporary file that a signal must remove. `path` is NULL if the
 * element is unused. Unused elements are reused and never freed, since a signal handler may read them. */
struct place {
    _Atomic(const char *) path;
    struct place *next;
};

/* The state is global, since a signal handler gets no argument. */
static struct {
    _Atomic(struct place *) files;
    _Atomic(struct heddle *) running;
    atomic_int guarded, caught;
} state;

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDS = sizeof ends / sizeof ends[0] };

static void end_now(int number) {
    for (struct place *p = atomic_load(&state.files); p; p = p->next) {
        const char *path = atomic_load(&p->path);
        if (path)
            unlink(path);
    }
    signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}

static void on_signal(int number) {
    if (!atomic_load(&state.guarded) || atomic_exchange(&state.caught, number)) {
        end_now(number);
        return;
    }
    struct heddle *h = atomic_load(&state.running);
    if (h)
        heddle_stop(h);
}

/* Handles SIGPIPE: the process ends, because nothing reads its output any more. */
static void on_pipe(int number) { end_now(number); }

static void listen_to(int number, void (*handler)(int)) {
    struct sigaction old, now = {.sa_handler = handler};
    sigemptyset(&now.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &now, NULL);
}

void interrupt_listen(void) {
    for (int i = 0; i < N_ENDS; i++)
        listen_to(ends[i], on_signal);
    listen_to(SIGPIPE, on_pipe);
    signal(SIGXFSZ, SIG_IGN); /* ignored, so that a write to a file that is too large fails with a message */
}

void interrupt_guard(struct heddle *h) {
    atomic_store(&state.running, h);
    atomic_store(&state.guarded, 1);
    /* a signal that came earlier, under interrupt_guard(NULL), stops this simulation */
    if (h && atomic_load(&state.caught))
        heddle_stop(h);
}

void interrupt_unguard(void) {
    atomic_store(&state.guarded, 0);
    atomic_store(&state.running, NULL);
}

int interrupt_signal(void) { return atomic_load(&state.caught); }

void interrupt_finish(void) {
    int number = atomic_load(&state.caught);
    if (number)
        end_now(number);
}

void interrupt_forget_all(void) {
    atomic_store(&state.files, NULL);
    atomic_store(&state.running, NULL);
    for (int i = 0; i < N_ENDS; i++)
        listen_to(ends[i], SIG_DFL);
    listen_to(SIGPIPE, SIG_DFL);
}

bool interrupt_remember(const char *path) {
    for (struct place *p = atomic_load(&state.files); p; p = p->next) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&p->path, &none, path))
            return true;
    }
    struct place *p = calloc(1, sizeof *p);
    if (!p)
        return false;
    atomic_store(&p->path, path);
    p->next = atomic_load(&state.files);
    while (!atomic_compare_exchange_weak(&state.files, &p->next, p))
        continue;
    return true;
}

void interrupt_forget(const char *path) {
    for (struct place *p = atomic_load(&state.files); p; p = p->next) {
        const char *own = path;
        if (atomic_compare_exchange_strong(&p->path, &own, NULL))
            return;
    }
}
