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
    uint32_t arch; /* 75 for compute_75; for linked parts, the lowest of their architectures */
};

struct device_code {
    struct ptx_part *parts; /* one part for each container with PTX; containers linked together make one part */
    int n, cap;
    /* entries: number of container entries of any kind; machine: number of entries of machine code with kernels or
     * functions */
    uint32_t entries, machine;
    uint32_t machine_arch; /* architecture of one of the entries of machine code, for messages */
    uint32_t link_time;    /* number of entries for link-time optimisation (nvcc -dlto) */
    /* has_sections: true if the file has sections of device code or is a .fatbin file; has_cubin: true if the file
     * itself is machine code */
    bool has_sections, has_cubin;
    char *error; /* reason why reading stopped, in one sentence; NULL if everything was read */
};
void device_code_free(struct device_code *c);
/* Sets the reason why reading ended, and returns false. Only the first reason is kept. */
bool device_code_fail(struct device_code *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the reason "no PTX", with advice, and returns false. */
bool device_code_none(struct device_code *c);

enum { FATBIN_HEADER = 16 };
/* Return whether a container begins at this address, and the container's size in bytes according to its header. */
bool fatbin_is(const void *data, size_t len);
uint64_t fatbin_bytes(const void *header);
/* Adds the best PTX of the container at `data` for a GPU of compute capability `target` (75 for 7.5): the newest
 * version that is not newer than the GPU, else the oldest. `len` is the number of readable bytes, and `at` is their
 * offset, for messages. Returns false if the container is invalid. */
bool fatbin_read(struct device_code *c, const void *data, size_t len, uint32_t target, uint64_t at);
/* Returns the architecture of the newest PTX that has kernels or functions (75 for compute_75); 0 if there is none. PTX
 * without kernels and functions does not count, because nvcc makes it from every source file. CUDA's device library
 * (libcudadevrt.a), which has PTX for the newest GPUs, counts only if all other PTX does not. */
uint32_t device_code_newest(const struct device_code *c);
/* Does the work of device_code_newest() for one container. Also returns 0 if the container is invalid or is CUDA's
 * device library. */
uint32_t fatbin_newest(const void *data, size_t len);
/* Links the parts from `first` on (compiled with nvcc -rdc=true) into one module. Definitions in one part resolve
 * `.extern` in others; equal names that are local to parts stay distinct. */
bool ptx_link(struct device_code *c, int first);
#endif
