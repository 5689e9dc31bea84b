#ifndef HOST_LIVE_PARTS_H
#define HOST_LIVE_PARTS_H
/* Internals of live.h: the state of the run, and the server. */
#include "live.h"
#include "timing/report/states.h"
#include <pthread.h>

/* A point of the curves: sums over one interval of the run. slots: issue slots by their use. */
struct live_point {
    double cycles, instructions; /* sums of cycles and of thread instructions */
    double slots[N_SLOTS];
};

enum {
    /* maximum number of points of a curve; even, because a full curve is halved by merging pairs of points */
    LIVE_POINTS = 512,
    LIVE_LAUNCHES = 100, /* number of latest launches that the page shows */
    LIVE_NAME = 96
};

struct live_launch {
    int number;
    char program[LIVE_NAME], kernel[LIVE_NAME];
    struct heddle_dim grid, block;
    uint64_t ctas_done, ctas;
    /* began, ended: times in seconds of the host; ended is 0 while the launch runs */
    double cycles, instructions, began, ended;
};

struct live_sm {
    uint32_t ctas, warps;
    struct live_point last;
};

/* The state of the run. A thread must hold the lock when it accesses the state. */
struct live_state {
    pthread_mutex_t lock;
    char *command;
    char model[LIVE_NAME], config[LIVE_NAME], program[LIVE_NAME];
    double started;
    bool timed; /* the model has timing */
    struct live_point points[LIVE_POINTS];
    /* n_points: number of points of a curve; views: number of calls of the watch callback that the last point sums;
     * each: number of calls that a full point sums */
    int n_points, views, each;
    struct live_launch launches[LIVE_LAUNCHES];
    int n_launches; /* number of launches that have begun; launch n is stored in launches[n % LIVE_LAUNCHES] */
    struct live_sm *sms;
    uint32_t n_sms;
};

/* Initialise and free the state, and add a view of the simulation to it (live_state.c). */
bool live_state_init(struct live_state *s, const char *command);
void live_state_free(struct live_state *s);
void live_state_view(struct live_state *s, const struct heddle_view *v);
/* Returns the state as JSON, which the caller frees. NULL: out of memory. */
char *live_state_json(struct live_state *s);

/* live_page.c: returns the page, which the caller frees. NULL: out of memory. */
char *live_page(const struct live_state *s);

/* live_http.c: the server. It calls `get` for each GET of a path: `get` returns the text of the page, which the server
 * frees, and sets *type to the text's content type. NULL: no such page. */
struct live_http;
struct live_http_ops {
    char *(*get)(void *ctx, const char *path, const char **type);
    void *ctx;
};
struct live_http *live_http_open(const char *where, const struct live_http_ops *ops, char *err, size_t err_size);
void live_http_close(struct live_http *h);
const char *live_http_address(const struct live_http *h);
const char *live_http_socket(const struct live_http *h);
#endif
