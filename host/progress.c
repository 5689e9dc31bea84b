#include "progress.h"
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_SECONDS = 2, LINE_SECONDS = 60, COLUMNS = 80, BAR = 24 };

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double seconds_now(void) { return seconds_of(CLOCK_MONOTONIC); }

void progress_init(struct progress *p, bool wanted) {
    memset(p, 0, sizeof *p);
    p->wanted = wanted;
    p->lines = wanted && !isatty(STDERR_FILENO);
    p->left = -1;
}

void progress_start(struct progress *p, const char *label) {
    if (!p->wanted)
        return;
    p->started = p->drawn = seconds_now();
    p->left = -1;
    snprintf(p->label, sizeof p->label, "%s", label);
}

void progress_text(char *out, int size, int width, const char *label, uint64_t done, uint64_t total, const char *note,
                   double seconds, double *least) {
    double part = total ? (double)done / (double)total : 0;
    if (part > 1)
        part = 1;
    int filled = (int)(part * BAR);
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[BAR] = '\0';
    char left[32] = "";
    if (part > 0.01) {
        double estimate = seconds / part - seconds;
        *least = *least < 0 || estimate < *least ? estimate : *least;
        snprintf(left, sizeof left, ", %.0f s left", *least);
    }
    snprintf(out, (size_t)(size < width + 1 ? size : width + 1), "%s [%s] %3.0f %%%s%s%s", label, bar, part * 100, left,
             *note ? ", " : "", note);
}

static int terminal_width(void) {
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 8 ? w.ws_col - 1 : COLUMNS;
}

void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *note) {
    if (!p->wanted)
        return;
    const double now = seconds_of(CLOCK_MONOTONIC_COARSE); /* the caller calls for each CTA */
    if (now - p->started < WAIT_SECONDS || now - p->drawn < (p->lines ? LINE_SECONDS : 0.1))
        return;
    char text[256];
    progress_text(text, sizeof text, p->lines ? COLUMNS : terminal_width(), p->label, done, total, note,
                  now - p->started, &p->left);
    fprintf(stderr, p->lines ? "%s\n" : "\r\x1b[K%s", text);
    fflush(stderr);
    p->drawn = now;
    p->visible = !p->lines;
}

void progress_end(struct progress *p) {
    if (!p->visible)
        return;
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
    p->visible = false;
}
