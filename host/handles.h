#ifndef HOST_HANDLES_H
#define HOST_HANDLES_H
/* A set of the open contexts and modules of this process. Functions of heddle.h check their handles against it, so that
 * they refuse NULL, freed and invented pointers without reading through them. All functions are thread-safe;
 * handle_is_open() may also be called in a signal handler. */
#include <stdbool.h>

enum handle_kind { HANDLE_CONTEXT, HANDLE_MODULE };

/* Adds the handle. Returns false when memory runs out. */
bool handle_open(const void *p, enum handle_kind kind);
void handle_close(const void *p, enum handle_kind kind);
bool handle_is_open(const void *p, enum handle_kind kind);
#endif
