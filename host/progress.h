#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H
/* A progress bar on stderr for work that takes longer than two seconds. The bar is drawn only on a terminal, and is
 * erased at the end. */
#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool wanted;           /* true if the caller requests the bar and stderr is a terminal */
    bool visible;          /* true while the bar is on the screen */
    double started, drawn; /* times of the start and of the latest drawing, in seconds of the monotonic clock */
    char label[48];
};

/* Returns the time of the monotonic clock in seconds. */
double seconds_now(void);
/* Prepares a bar. Nothing is drawn unless `wanted` is set and stderr is a terminal. */
void progress_init(struct progress *p, bool wanted);
void progress_start(struct progress *p, const char *label);
/* Updates the bar. `note`, for example a cycle number, is shown after the bar; it may be "". A call is cheap, so it may
 * be called often. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *note);
/* Erases the bar. */
void progress_end(struct progress *p);
/* Writes the text of the bar, at most `width` columns, without control characters. This is a separate function so that
 * tests can call it. */
void progress_text(char *out, int size, int width, const char *label, uint64_t done, uint64_t total, const char *note,
                   double seconds);
#endif
