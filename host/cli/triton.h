#ifndef HOST_CLI_TRITON_H
#define HOST_CLI_TRITON_H
/* Reads the metadata of a launch that Triton writes into its cache, NAME.json beside NAME.ptx. The layout is that of
 * Triton 2.1 to 3.6: keys that a version does not write have defaults, and keys that no launch needs are ignored. */
#include "host/heddle.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRITON_MAX_SCRATCH = 2 };

struct triton {
    char *kernel;              /* name of the kernel in the PTX */
    uint32_t threads;          /* threads of a CTA: 32 * num_warps */
    uint32_t shared;           /* dynamic shared memory of a CTA, in bytes */
    struct heddle_dim cluster; /* all 0: the kernel has no cluster */
    /* CTAs for each program of the grid in each dimension. Triton multiplies the grid by these numbers. */
    struct heddle_dim ctas;
    /* Buffers that Triton passes after the kernel's own arguments: global_scratch and, since Triton 3.5,
     * profile_scratch. scratch[i]: bytes for each CTA, 0: a null pointer. */
    int n_scratch;
    uint64_t scratch[TRITON_MAX_SCRATCH];
};

/* Reads the file. On an error, writes the file, the key and what was expected to `err`, and returns false. Call
 * triton_free() in either case. */
bool triton_read(const char *path, struct triton *out, char *err, size_t err_size);
void triton_free(struct triton *t);
/* Returns the path of the PTX for the metadata at `path`: the same name with .ptx, in memory from malloc(). Returns
 * NULL if the name does not end in .json, or if memory is out. */
char *triton_ptx(const char *path);
#endif
