#ifndef HOST_LIVE_H
#define HOST_LIVE_H
/* A page about a run that goes on, for a browser: an HTTP server in a thread of its own, and what it tells, which comes
 * through heddle_options.watch. */
#include "host/heddle.h"

struct live;

/* Serves on `where`: PORT (of 127.0.0.1; 0: one that is free), ADDRESS:PORT, [ADDRESS]:PORT, or, with a slash in it,
 * the path of a Unix socket. `command`: what runs, for the page. NULL with the reason in `err`. */
struct live *live_open(const char *where, const char *command, char *err, size_t err_size);
/* Nothing happens when it is NULL. */
void live_close(struct live *l);
/* "http://127.0.0.1:8080/", or the path of the socket. */
const char *live_address(const struct live *l);
/* The path of the Unix socket, which live_close() removes; NULL: it is none. */
const char *live_socket(const struct live *l);
/* Contexts of these options are told of from here on. */
void live_watch(struct live *l, struct heddle_options *o);
/* What runs next: a benchmark's name; its launches count from 0 again. */
void live_program(struct live *l, const char *name);
#endif
