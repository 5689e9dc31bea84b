/* Reads PROGRAM_OPTIONS: options about the launches and the device memory of a program. */
#include "cmd.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads a size in bytes, with an optional suffix K, M, G or T (powers of 1024). Returns 0 if `text` is not such a
 * size. */
static uint64_t read_size(const char *text) {
    static const char suffix[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!n || errno)
        return 0;
    const char *unit = *end ? strchr(suffix, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - suffix + 1) : 0;
    if ((*end && !unit) || (*end && end[1]) || n > UINT64_MAX >> shift)
        return 0;
    return n << shift;
}

bool cli_program_options(const struct cli *c, struct heddle_options *o) {
    const char *at = cli_value(c, "checkpoint-at"), *size = cli_value(c, "device-memory");
    unsigned long long launch = 0, cta = 0;
    int used = 0;
    o->checkpoint = cli_value(c, "checkpoint");
    o->time_launches = cli_value(c, "time-launch");
    o->memory_folder = cli_value(c, "device-memory-dir");
    if (at && !o->checkpoint && !cli_has(c, "output")) {
        cli_error(c, "--checkpoint-at does nothing without --checkpoint");
        return false;
    }
    if (at && (*at < '0' || *at > '9' || sscanf(at, "%llu%n:%llu%n", &launch, &used, &cta, &used) < 1 || at[used])) {
        cli_error(c, "--checkpoint-at takes LAUNCH or LAUNCH:CTA, not '%s'", at);
        return false;
    }
    o->checkpoint_launch = launch;
    o->checkpoint_cta = cta;
    if (size && !(o->memory_limit = read_size(size))) {
        cli_error(c, "--device-memory takes a number of bytes, as in 512M or 80G, not '%s'", size);
        return false;
    }
    return true;
}

enum heddle_status cli_checkpoint_end(const struct cli *c, struct heddle *h, enum heddle_status status) {
    if (!cli_has(c, "checkpoint") || heddle_checkpoint_end(h) == HEDDLE_OK)
        return status;
    if (status == HEDDLE_USAGE) /* the launch has said why */
        return status;
    enum heddle_status failed = cli_fail(c, "%.*s", (int)strcspn(heddle_error(h), "\n"), heddle_error(h));
    return status == HEDDLE_OK ? failed : status;
}
