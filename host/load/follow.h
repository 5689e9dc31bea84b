#ifndef HOST_FOLLOW_H
#define HOST_FOLLOW_H
/* Chooses the preset for a CUDA program that is run without -c, by the target of the program's newest PTX. */
#include <stdint.h>

enum { FOLLOW_OPTIONS = 3 };
struct follow {
    const char *preset;
    char text[FOLLOW_OPTIONS][40]; /* "key=value" beside it */
    /* the assignments of options that the preset needs for this program, ended by NULL; they point into `text` */
    const char *set[FOLLOW_OPTIONS + 1];
};
/* Fills *f for a program whose newest PTX is for compute capability `arch` (75 for 7.5). 0 means that no PTX is
 * known yet, as in a program that loads PTX through the driver. The struct *f must not be copied. */
void follow_ptx(struct follow *f, uint32_t arch);
#endif
