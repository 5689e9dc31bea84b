#ifndef HOST_LIVE_PARTS_H
#define HOST_LIVE_PARTS_H
/* Inside of live.h: what is known of the run, and the server. */
#include "live.h"
#include "timing/report/states.h"
#include <pthread.h>

/* What a part of the run did. */
struct live_point {
    double cycles, instructions; /* of threads */
    double slots[N_SLOTS];
};

enum {
    LIVE_POINTS = 512,   /* of the curves, even: when there are as many, two become one */
    LIVE_LAUNCHES = 100, /* the last ones are shown */
    LIVE_NAME = 96
};

struct live_launch {
    int number;
    char program[LIVE_NAME], kernel[LIVE_NAME];
    struct heddle_dim grid, block;
    uint64_t ctas_done, ctas;
    double cycles, instructions, began, ended; /* seconds; ended 0: it runs */
};

struct live_sm {
    uint32_t ctas, warps;
    struct live_point last;
};

/* Everything is looked at with the lock held. */
struct live_state {
    pthread_mutex_t lock;
    char *command;
    char model[LIVE_NAME], config[LIVE_NAME], program[LIVE_NAME];
    double started;
    bool timed; /* there is time in this model */
    struct live_point points[LIVE_POINTS];
    int n_points, views, each; /* views in the last point; that a point has when it is full */
    struct live_launch launches[LIVE_LAUNCHES];
    int n_launches; /* begun; launches[n % LIVE_LAUNCHES] */
    struct live_sm *sms;
    uint32_t n_sms;
};

/* live_state.c */
bool live_state_init(struct live_state *s, const char *command);
void live_state_free(struct live_state *s);
void live_state_view(struct live_state *s, const struct heddle_view *v);
/* As JSON; free it. NULL when memory is out. */
char *live_state_json(struct live_state *s);

/* live_page.c: the page; free it. NULL when memory is out. */
char *live_page(const struct live_state *s);

/* live_http.c: answers a GET of `path` with a text of this type, which it frees; NULL: there is no such page. */
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
