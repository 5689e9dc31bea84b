#ifndef HOST_WINDOW_H
#define HOST_WINDOW_H
/* Decides which launches of a context with a timing model are simulated in time. The others run functionally: fast, and
 * with the same results. The option heddle_options.time_launches, heddle_replay() and sampling choose by this
 * interface. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
    /* Returns true if the launch is simulated in time. `launch`: number of the launch, from 0. The function is called
     * once for each launch, in their order. NULL: all launches are simulated in time. */
    bool (*in_time)(struct window *w, uint64_t launch, const char *kernel);
    void *ctx;                  /* for in_time */
    uint64_t from, to, ordinal; /* window_by_text(): the range, and the number of launches of `kernel` so far */
    char kernel[256];           /* "": any kernel */
    bool chose, passed;         /* window_by_text(): a launch was selected; a launch was not selected */
};

/* Selects launches by text, as heddle_options.time_launches describes. Returns false with a message in `err` if the
 * text is wrong. */
bool window_by_text(struct window *w, const char *text, char *err, size_t err_size);
/* Selects the launches [from, to). */
void window_by_number(struct window *w, uint64_t from, uint64_t to);
#endif
