#ifndef HOST_LIVE_H
#define HOST_LIVE_H
/* A live page: an HTTP server, in its own thread, that shows a running simulation in a browser. It gets its data
 * through heddle_options.watch. */
#include "host/heddle.h"

struct live;

/* Starts a server on `where`: PORT (on 127.0.0.1; 0: any free port), ADDRESS:PORT, [ADDRESS]:PORT, or the path of a
 * Unix socket if it contains a slash. `command` is text for the page. Returns NULL on failure, with the reason in
 * `err`. */
struct live *live_open(const char *where, const char *command, char *err, size_t err_size);
/* Stops the server; ignores NULL. */
void live_close(struct live *l);
/* Returns "http://127.0.0.1:8080/", or the path of the socket. */
const char *live_address(const struct live *l);
/* Returns the path of the Unix socket, which live_close() removes; NULL: the server uses TCP. */
const char *live_socket(const struct live *l);
/* Sets the watch callback in these options, so that their contexts appear on the page. */
void live_watch(struct live *l, struct heddle_options *o);
/* Announces the next benchmark; launches are counted from 0 again. */
void live_program(struct live *l, const char *name);
#endif
