#ifndef HOST_INTERRUPT_H
#define HOST_INTERRUPT_H
/* Signals that end the command line: SIGINT, SIGTERM, SIGHUP. While a simulation runs, the first one stops it, so that
 * its figures can be written; the process then ends by that signal. At any other time, or the second time, it ends at
 * once. Either way its temporary files are removed. A signal that was ignored when the process began stays ignored. */
#include "host/heddle.h"

/* Begins to listen. Without it, files are not removed and signals do what they always do. */
void interrupt_listen(void);
/* From here on a signal stops what runs in `h`; NULL: it is only noted. */
void interrupt_guard(struct heddle *h);
void interrupt_unguard(void);
/* The signal that came while something was guarded; 0: none. */
int interrupt_signal(void);
/* Ends the process by the signal that came, if one did. */
void interrupt_finish(void);
/* In a child process: signals end it at once, and the files are the parent's. */
void interrupt_forget_all(void);

/* A file to be removed when a signal ends the process; `path` stays the caller's, and must live until
 * interrupt_forget(). False when memory is out. */
bool interrupt_remember(const char *path);
void interrupt_forget(const char *path);
#endif
