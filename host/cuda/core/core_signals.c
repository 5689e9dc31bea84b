/* Lets signals that end a process stop its launches first. */
#include "core_signals.h"
#include "core_base.h"
#include <signal.h>

/* The signal that stopped a launch, 0: none; number of launches in progress. A handler may read nothing else. */
static volatile sig_atomic_t stopped_by, launches;

static void on_signal(int number) {
    if (stopped_by || !launches || cuda_core.forked) {
        signal(number, SIG_DFL);
        raise(number); /* takes effect when the handler returns */
        return;
    }
    stopped_by = number;
    heddle_stop(cuda_core.h);
}

void cuda_catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction old, on = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigemptyset(&on.sa_mask);
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &on, NULL);
    }
}

void cuda_signals_stop(bool begin) { launches += begin ? 1 : -1; }

int cuda_stopped_by(void) { return stopped_by; }
