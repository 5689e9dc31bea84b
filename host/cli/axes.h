#ifndef HOST_AXES_H
#define HOST_AXES_H
/* Options with several values: -s KEY=VALUE,VALUE or -s KEY=FROM:TO:STEP. */
#include "cmd.h"

struct axes {
    struct axis {
        char **values; /* assignments, "l1.size=8K" */
        int n;
    } * axis;
    int n;
};

enum { AXIS_VALUES = 1000 };
/* `set`: assignments as written, NULL-terminated. False after a message; free in any case. */
bool axes_read(struct axes *a, const struct cli *c, const char *const *set);
void axes_free(struct axes *a);
/* One of them; false with the reason in `err`. */
bool axis_read(struct axis *a, const char *text, char *err, size_t err_size);
#endif
