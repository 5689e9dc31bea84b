#ifndef HOST_FATBIN_H
#define HOST_FATBIN_H
/* Finds PTX in the containers into which nvcc puts device code. Any bytes are accepted and checked. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PTX text of one module. */
struct ptx_part {
    char *text; /* zero-terminated; `len` does not count the zero */
    size_t len;
    uint32_t arch; /* 75 for compute_75; the lowest one of linked parts */
};

struct device_code {
    struct ptx_part *parts; /* a part for each container with PTX; containers to be linked make one part */
    int n, cap;
    uint32_t entries, machine;    /* entries of any kind; entries of machine code with kernels or functions */
    uint32_t machine_arch;        /* architecture of one entry of machine code */
    uint32_t link_time;           /* entries for link-time optimisation (nvcc -dlto) */
    bool has_sections, has_cubin; /* ELF: it has sections of device code; the file itself is machine code */
    char *error;                  /* why reading ended, one sentence; NULL: all was read */
};
void device_code_free(struct device_code *c);
/* Sets the reason why reading ended, and returns false. Only the first reason is kept. */
bool device_code_fail(struct device_code *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the reason "no PTX", with advice, and returns false. */
bool device_code_none(struct device_code *c);

enum { FATBIN_HEADER = 16 };
/* Return whether a container begins here, and its size in bytes according to its header. */
bool fatbin_is(const void *data, size_t len);
uint64_t fatbin_bytes(const void *header);
/* Adds the best PTX of the container at `data` for a GPU of compute capability `target` (75 for 7.5): the newest
 * version that is not newer than the GPU, else the oldest. `len`: readable bytes; `at`: their offset, for messages.
 * False: the container is broken. */
bool fatbin_read(struct device_code *c, const void *data, size_t len, uint32_t target, uint64_t at);
/* Returns the architecture of the newest PTX that has kernels or functions, 75 for compute_75; 0: none. nvcc makes PTX
 * of files without kernels, too. */
uint32_t device_code_newest(const struct device_code *c);
/* device_code_newest() for one container; 0 also if it is broken. */
uint32_t fatbin_newest(const void *data, size_t len);
/* Links the parts from `first` on (compiled with nvcc -rdc=true) into one module. Definitions in one part resolve
 * `.extern` in others; equal names that are local to parts stay distinct. */
bool ptx_link(struct device_code *c, int first);
#endif
