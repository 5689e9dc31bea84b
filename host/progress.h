#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H
/* Progress on stderr for work that takes longer than two seconds. On a terminal, a bar is drawn, and is erased at the
 * end. In a log, a line is written each minute. */
#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool wanted;           /* true if the caller requests progress */
    bool lines;            /* true if stderr is no terminal, so that lines are written in place of the bar */
    bool visible;          /* true while the bar is on the screen */
    double left;           /* the least estimate of the remaining seconds so far; negative: there is none */
    double started, drawn; /* times of the start and of the latest drawing, in seconds of the monotonic clock */
    char label[48];
};

/* Returns the time of the monotonic clock in seconds. */
double seconds_now(void);
/* Prepares the progress. Nothing is written unless `wanted` is set. */
void progress_init(struct progress *p, bool wanted);
void progress_start(struct progress *p, const char *label);
/* Updates the bar. `note`, for example a cycle number, is shown after the bar; it may be "". A call is cheap, so it may
 * be called often. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *note);
/* Erases the bar. */
void progress_end(struct progress *p);
/* Writes the text of the bar, at most `width` columns, without control characters. *least is the least estimate so far;
 * a larger estimate is not shown, so that the shown estimate never grows. This is a separate function so that tests can
 * call it. */
void progress_text(char *out, int size, int width, const char *label, uint64_t done, uint64_t total, const char *note,
                   double seconds, double *least);
#endif
