#ifndef HOST_FATBIN_H
#define HOST_FATBIN_H
/* The containers in which nvcc puts device code: what of PTX is in them. Any bytes may be given. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PTX text of one module. */
struct ptx_part {
    char *text; /* ends with a zero, which `len` does not count */
    size_t len;
    uint32_t arch; /* 75 for compute_75; the lowest of what was linked */
};

struct device_code {
    struct ptx_part *parts; /* one a container that has PTX; those to be linked are one */
    int n, cap;
    uint32_t entries, machine;    /* entries of any kind, and those of machine code that has kernels or functions */
    uint32_t machine_arch;        /* of one of these */
    uint32_t link_time;           /* entries of what nvcc -dlto leaves to the linker */
    bool has_sections, has_cubin; /* ELF: there are sections of device code; the file itself is machine code */
    char *error;                  /* why there is no more, one sentence; NULL: all was read */
};
void device_code_free(struct device_code *c);
/* Notes why reading ended; false. Only the first reason is kept. */
bool device_code_fail(struct device_code *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Notes that there is no PTX, and what to do. False. */
bool device_code_none(struct device_code *c);

enum { FATBIN_HEADER = 16 };
/* Whether a container starts here, and its bytes as its header says. */
bool fatbin_is(const void *data, size_t len);
uint64_t fatbin_bytes(const void *header);
/* Adds the best PTX of the container at `data` for a GPU of compute capability `target` (75 for 7.5): the newest that
 * is not newer than it, else the oldest. `len` bytes may be read, `at` is where they are for messages. False: broken.
 */
bool fatbin_read(struct device_code *c, const void *data, size_t len, uint32_t target, uint64_t at);
/* The newest PTX with kernels or functions in it, 75 for compute_75; 0 when there is none. nvcc makes PTX of files
 * without kernels, too. */
uint32_t device_code_newest(const struct device_code *c);
/* The same of a container; 0 when it is broken, too. */
uint32_t fatbin_newest(const void *data, size_t len);
/* Makes one module of the parts from `first` on, which were compiled to be linked (nvcc -rdc=true): definitions in one
 * serve `.extern` in others, names that a part keeps for itself stay apart. */
bool ptx_link(struct device_code *c, int first);
#endif
