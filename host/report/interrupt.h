#ifndef HOST_INTERRUPT_H
#define HOST_INTERRUPT_H
/* Handles the signals that end the command line: SIGINT, SIGTERM, SIGHUP. The first signal during a simulation stops
 * it, so that its statistics can be written; the process then ends by that signal. At any other time, or at the second
 * signal, the process ends at once. Temporary files are removed in both cases. A signal that was ignored at the start
 * of the process stays ignored. */
#include "host/heddle.h"

/* Installs the handlers. Without them, signals have their default effect and temporary files stay. */
void interrupt_listen(void);
/* Makes a signal stop the simulation in `h` from now on. If `h` is NULL, a signal is only noted, for
 * interrupt_signal(). */
void interrupt_guard(struct heddle *h);
void interrupt_unguard(void);
/* Returns the first signal that came between interrupt_guard() and interrupt_unguard(); 0 if none came. */
int interrupt_signal(void);
/* Ends the process by the caught signal, if there was one. */
void interrupt_finish(void);
/* Resets the state in a child process: signals end it at once, and temporary files stay with the parent. */
void interrupt_forget_all(void);

/* Registers a file that is removed when a signal ends the process. The caller keeps `path` valid until
 * interrupt_forget(). Returns false if out of memory. */
bool interrupt_remember(const char *path);
void interrupt_forget(const char *path);
#endif
