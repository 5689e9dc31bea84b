/* The HTTP server of live pages: Heddle's own socket, served by libmicrohttpd. The library is loaded only when a run
 * needs it, so that Heddle runs without it. */
#include "live_parts.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define INSTALL "apt-get install libmicrohttpd12"

enum { HOST = 256, PORT = 16, PENDING = 8 };

struct live_http {
    struct live_http_ops ops;
    int fd; /* listening socket; -1: there is none yet, or the server has taken it over and will close it */
    char address[HOST + 32];
    char *socket;  /* path; NULL: TCP */
    bool loopback; /* true if the server can be reached only from this machine */
    void *library, *server;
};

const char *live_http_address(const struct live_http *h) { return h->address; }
const char *live_http_socket(const struct live_http *h) { return h->socket; }

/* ---- addresses ---- */

static bool complain(char *err, size_t err_size, const char *where, const char *why) {
    snprintf(err, err_size, "%s: %s", where, why);
    return false;
}

/* Removes a stale socket at the path. Any other file there is an error. */
static bool clear_path(const struct sockaddr_un *a, char *err, size_t err_size) {
    struct stat st;
    if (lstat(a->sun_path, &st) != 0)
        return true;
    if (!S_ISSOCK(st.st_mode))
        return complain(err, err_size, a->sun_path, "is there, and no socket");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool dead = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return dead ? unlink(a->sun_path) == 0 || complain(err, err_size, a->sun_path, strerror(errno))
                : complain(err, err_size, a->sun_path, "is in use: another run may be served there");
}

static bool listen_path(struct live_http *h, const char *path, char *err, size_t err_size) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof a.sun_path)
        return complain(err, err_size, path, "is too long for the path of a socket");
    memcpy(a.sun_path, path, strlen(path) + 1);
    if (!clear_path(&a, err, err_size))
        return false;
    h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (h->fd < 0 || bind(h->fd, (struct sockaddr *)&a, sizeof a) != 0)
        return complain(err, err_size, path, strerror(errno));
    h->socket = strdup(path);
    h->loopback = true;
    snprintf(h->address, sizeof h->address, "%s", path);
    if (h->socket && chmod(path, 0600) == 0 && listen(h->fd, PENDING) == 0)
        return true;
    return complain(err, err_size, path, strerror(errno));
}

/* Splits "8080", "host:8080" or "[host]:8080" into host and port. Without a host, it is 127.0.0.1. Returns false for
 * other text. */
static bool split(const char *where, char *host, char *port) {
    const char *colon = strrchr(where, ':'), *end = colon;
    if (!colon) {
        snprintf(host, HOST, "127.0.0.1");
        colon = where - 1;
    } else if (*where == '[' && colon > where + 1 && colon[-1] == ']') {
        snprintf(host, HOST, "%.*s", (int)(end - where) - 2, where + 1);
    } else if (colon > where && colon - where < HOST && !memchr(where, ':', (size_t)(colon - where))) {
        snprintf(host, HOST, "%.*s", (int)(end - where), where);
    } else {
        return false;
    }
    size_t digits = strspn(colon + 1, "0123456789");
    if (!digits || digits > 5 || colon[1 + digits] || atoi(colon + 1) > 65535)
        return false;
    snprintf(port, PORT, "%s", colon + 1);
    return true;
}

/* Sets h->address and h->loopback from the address to which the socket is bound. If the user gave port 0, the system
 * has chosen the port. */
static void note_address(struct live_http *h, const char *host) {
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    char port[PORT] = "?", number[HOST] = "";
    if (getsockname(h->fd, (struct sockaddr *)&a, &len) == 0)
        getnameinfo((struct sockaddr *)&a, len, number, sizeof number, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    h->loopback = strncmp(number, "127.", 4) == 0 || strcmp(number, "::1") == 0;
    bool six = strchr(host, ':') != NULL;
    snprintf(h->address, sizeof h->address, "http://%s%.200s%s:%.5s/", six ? "[" : "", host, six ? "]" : "", port);
}

static bool bind_to(struct live_http *h, const struct addrinfo *a) {
    int one = 1;
    h->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (h->fd < 0)
        return false;
    setsockopt(h->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    return bind(h->fd, a->ai_addr, a->ai_addrlen) == 0 && listen(h->fd, PENDING) == 0;
}

static bool listen_port(struct live_http *h, const char *where, char *err, size_t err_size) {
    char host[HOST], port[PORT];
    if (!split(where, host, port)) {
        snprintf(err, err_size,
                 "a live page takes a port from 0 to 65535, ADDRESS:PORT, or the path of a socket with a '/' in it, "
                 "not '%s'",
                 where);
        return false;
    }
    struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    int wrong = getaddrinfo(host, port, &hints, &found);
    if (wrong)
        return complain(err, err_size, where, gai_strerror(wrong));
    bool fine = bind_to(h, found);
    int why = errno;
    freeaddrinfo(found);
    if (fine)
        note_address(h, host);
    else if (why == EADDRINUSE)
        complain(err, err_size, where, "the port is in use; another one, or 0 for any that is free?");
    else
        complain(err, err_size, where, strerror(why));
    return fine;
}

#if __has_include(<microhttpd.h>)
#include <microhttpd.h>

/* The functions of libmicrohttpd that the server uses. */
struct library {
    __typeof__(&MHD_start_daemon) start;
    __typeof__(&MHD_stop_daemon) stop;
    __typeof__(&MHD_create_response_from_buffer) response;
    __typeof__(&MHD_add_response_header) header;
    __typeof__(&MHD_queue_response) queue;
    __typeof__(&MHD_destroy_response) destroy;
    __typeof__(&MHD_lookup_connection_value) lookup;
};

struct server {
    struct library lib;
    struct MHD_Daemon *daemon;
};

#define LIBRARY "libmicrohttpd.so.12"

/* Reports why the library cannot be loaded: it is not installed, or the installed file is unusable. */
static bool say_missing(char *err, size_t err_size) {
    const char *why = dlerror();
    if (!why || strstr(why, strerror(ENOENT)))
        snprintf(err, err_size, "a live page needs libmicrohttpd, which is not installed: " INSTALL);
    else
        snprintf(err, err_size, "a live page needs libmicrohttpd, which cannot be loaded: %s", why);
    return false;
}

static bool load(struct live_http *h, struct library *l, char *err, size_t err_size) {
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"MHD_start_daemon", &l->start},
                     {"MHD_stop_daemon", &l->stop},
                     {"MHD_create_response_from_buffer", &l->response},
                     {"MHD_add_response_header", &l->header},
                     {"MHD_queue_response", &l->queue},
                     {"MHD_destroy_response", &l->destroy},
                     {"MHD_lookup_connection_value", &l->lookup}};
    h->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!h->library)
        return say_missing(err, err_size);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *f = dlsym(h->library, functions[i].name);
        memcpy(functions[i].to, &f, sizeof f);
        if (!f) {
            snprintf(err, err_size,
                     "a live page needs libmicrohttpd, and the " LIBRARY " that is found has no %s: is there "
                     "another one in LD_LIBRARY_PATH?",
                     functions[i].name);
            return false;
        }
    }
    return true;
}

/* Returns true if a Host header names this machine, with or without a port. A prefix match would not do:
 * "127.0.0.1.example.org" is another machine. */
static bool is_loopback(const char *host) {
    static const char *const names[] = {"localhost", "[::1]"};
    size_t len = strncmp(host, "127.", 4) == 0 ? strspn(host, "0123456789.") : 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncasecmp(host, names[i], strlen(names[i])) == 0)
            len = strlen(names[i]);
    const char *port = host + len;
    return len && (!*port || (*port == ':' && port[1 + strspn(port + 1, "0123456789")] == '\0'));
}

/* Returns true if a request may be answered. A request with a foreign Host header is refused: a web page could
 * otherwise let its own DNS name point to this machine, and read the state under this name. */
static bool is_ours(const struct live_http *h, const char *host) {
    return !h->loopback || h->socket || !host || is_loopback(host);
}

static enum MHD_Result answer(struct live_http *h, struct MHD_Connection *to, unsigned code, char *text,
                              const char *type) {
    const struct library *l = &((struct server *)h->server)->lib;
    struct MHD_Response *r = l->response(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    if (!r) {
        free(text);
        return MHD_NO;
    }
    l->header(r, "Content-Type", type);
    l->header(r, "Cache-Control", "no-store");
    l->header(r, "X-Content-Type-Options", "nosniff");
    l->header(r, "Content-Security-Policy",
              "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src "
              "'self'");
    enum MHD_Result done = l->queue(to, code, r);
    l->destroy(r);
    return done;
}

static enum MHD_Result refuse(struct live_http *h, struct MHD_Connection *to, unsigned code, const char *why) {
    char *text = strdup(why);
    return text ? answer(h, to, code, text, "text/plain; charset=utf-8") : MHD_NO;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *from, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **state) {
    struct live_http *h = ctx;
    const struct library *l = &((struct server *)h->server)->lib;
    const char *type = "";
    (void)data, (void)size, (void)state;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse(h, from, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    const char *host = l->lookup(from, MHD_HEADER_KIND, "Host");
    if (!host && strcmp(version, "HTTP/1.0") != 0) /* RFC 9112, 3.2 */
        return refuse(h, from, MHD_HTTP_BAD_REQUEST, "a request has a Host\n");
    if (!is_ours(h, host))
        return refuse(h, from, MHD_HTTP_FORBIDDEN, "this page is for this machine\n");
    char *text = h->ops.get(h->ops.ctx, url, &type);
    return text ? answer(h, from, MHD_HTTP_OK, text, type)
                : refuse(h, from, MHD_HTTP_NOT_FOUND, "there is / and /state.json\n");
}

static void silent(void *ctx, const char *fmt, va_list args) { (void)ctx, (void)fmt, (void)args; }

/* Starts the server's threads with all signals blocked, so that the simulating thread gets them. */
static bool serve(struct live_http *h, char *err, size_t err_size) {
    enum { CONNECTIONS = 32, SECONDS = 10 };
    struct server *s = h->server = calloc(1, sizeof *s);
    sigset_t all, before;
    if (!s || !load(h, &s->lib, err, err_size))
        return s ? false : complain(err, err_size, "a live page", "the host is out of memory");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->daemon = s->lib.start(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ERROR_LOG, 0, NULL, NULL,
                             on_request, h, MHD_OPTION_EXTERNAL_LOGGER, silent, NULL, MHD_OPTION_LISTEN_SOCKET, h->fd,
                             MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                             (unsigned)SECONDS, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (s->daemon)
        h->fd = -1;
    return s->daemon || complain(err, err_size, h->address, "the server does not start");
}

static void stop(struct live_http *h) {
    struct server *s = h->server;
    if (s && s->daemon)
        s->lib.stop(s->daemon);
    free(s);
    if (h->library)
        dlclose(h->library);
}
#else
static bool serve(struct live_http *h, char *err, size_t err_size) {
    (void)h;
    snprintf(err, err_size,
             "this heddle was built without libmicrohttpd, which live pages need: install "
             "libmicrohttpd-dev, and build it again");
    return false;
}
static void stop(struct live_http *h) { (void)h; }
#endif

struct live_http *live_http_open(const char *where, const struct live_http_ops *ops, char *err, size_t err_size) {
    struct live_http *h = calloc(1, sizeof *h);
    if (!h) {
        snprintf(err, err_size, "the host is out of memory");
        return NULL;
    }
    h->ops = *ops;
    h->fd = -1;
    bool fine = strchr(where, '/') ? listen_path(h, where, err, err_size) : listen_port(h, where, err, err_size);
    if (fine && serve(h, err, err_size))
        return h;
    live_http_close(h);
    return NULL;
}

void live_http_close(struct live_http *h) {
    if (!h)
        return;
    stop(h);
    if (h->fd >= 0)
        close(h->fd);
    if (h->socket)
        unlink(h->socket);
    free(h->socket);
    free(h);
}
