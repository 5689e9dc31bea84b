#ifndef HOST_HANDLES_H
#define HOST_HANDLES_H
/* Which contexts and modules of this process are open, so that NULL, freed and made-up handles are refused without a
 * look at what they point to. Any thread may call these; handle_is_open() also a signal handler. */
#include <stdbool.h>

enum handle_kind { HANDLE_CONTEXT, HANDLE_MODULE };

/* False when memory is out. */
bool handle_open(const void *p, enum handle_kind kind);
void handle_close(const void *p, enum handle_kind kind);
bool handle_is_open(const void *p, enum handle_kind kind);
#endif
