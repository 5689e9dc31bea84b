#include "live.h"
#include "host/models.h"
#include "live_parts.h"
#include <stdlib.h>
#include <string.h>

struct live {
    struct live_state state;
    struct live_http *http;
};

static char *get(void *ctx, const char *path, const char **type) {
    struct live *l = ctx;
    if (strcmp(path, "/") == 0) {
        *type = "text/html; charset=utf-8";
        return live_page(&l->state);
    }
    if (strcmp(path, "/state.json") == 0) {
        *type = "application/json";
        return live_state_json(&l->state);
    }
    return NULL;
}

struct live *live_open(const char *where, const char *command, char *err, size_t err_size) {
    struct live *l = calloc(1, sizeof *l);
    if (!l || !live_state_init(&l->state, command)) {
        snprintf(err, err_size, "the host is out of memory");
        free(l);
        return NULL;
    }
    l->http = live_http_open(where, &(struct live_http_ops){get, l}, err, err_size);
    if (l->http)
        return l;
    live_close(l);
    return NULL;
}

void live_close(struct live *l) {
    if (!l)
        return;
    live_http_close(l->http);
    live_state_free(&l->state);
    free(l);
}

const char *live_address(const struct live *l) { return live_http_address(l->http); }
const char *live_socket(const struct live *l) { return l ? live_http_socket(l->http) : NULL; }

static void seen(void *ctx, const struct heddle_view *v) {
    struct live *l = ctx;
    live_state_view(&l->state, v);
}

void live_watch(struct live *l, struct heddle_options *o) {
    struct live_state *s = &l->state;
    pthread_mutex_lock(&s->lock);
    snprintf(s->model, sizeof s->model, "%s", model_meant(o->model, o->check));
    snprintf(s->config, sizeof s->config, "%s", o->config ? o->config : "fermi");
    pthread_mutex_unlock(&s->lock);
    o->watch = seen;
    o->watch_ctx = l;
}

void live_program(struct live *l, const char *name) {
    if (!l)
        return;
    pthread_mutex_lock(&l->state.lock);
    snprintf(l->state.program, sizeof l->state.program, "%s", name);
    pthread_mutex_unlock(&l->state.lock);
}
