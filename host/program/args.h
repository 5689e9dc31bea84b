#ifndef HOST_PROGRAM_ARGS_H
#define HOST_PROGRAM_ARGS_H
/* Kernel arguments as written on the command line (-a SPEC), and the buffers and files that stand behind them. */
#include "host/heddle.h"

/* The types of values: u8 s8 ... u64 s64 f32 f64. `class`: u, s or f. */
struct value_type {
    const char *name;
    char class;
    unsigned bytes;
};
/* NULL for another name. */
const struct value_type *value_type(const char *name, size_t len);

enum arg_kind { ARG_VALUE, ARG_BYTES, ARG_IN, ARG_OUT, ARG_INOUT, ARG_ZERO };
/* What the kernel gets in place of the value or the buffer's address: a handle. */
enum arg_object { ARG_PLAIN, ARG_TEXTURE, ARG_SURFACE, ARG_SAMPLER };

struct arg {
    const char *spec; /* as written; not owned */
    enum arg_kind kind;
    const char *type;         /* ARG_VALUE: "u32" */
    char *in_file, *out_file; /* NULL where the kind has none */
    uint64_t bytes;           /* of the value or the buffer; known after args_load() for those filled from files */
    unsigned char value[8];   /* ARG_VALUE; the device address of a buffer (first 4 bytes in a 32-bit module) */
    unsigned char *data;      /* contents of in_file, later of the buffer */
    enum arg_object object;
    struct heddle_texture *texture; /* of an object; of a sampler its sampler */
    uint64_t handle;                /* of an object */
};

/* Parses one SPEC. False with the reason in `err`. Free with arg_free(), also after a failure. */
bool arg_parse(const char *spec, struct arg *out, char *err, size_t err_size);
void arg_free(struct arg *a);
/* "4096", "4K", "16M", "1G" (powers of 1024). False when it is no size or beyond 64 bits. */
bool parse_bytes(const char *text, uint64_t *out);

/* Whether the arguments fit the parameters; else a message of several lines on `err`: what is wrong, what the kernel
 * takes, what was given. `address_size`: bits. `how` arguments are given: "-a, ", or "". */
bool args_match(const struct arg *args, int n, const struct heddle_param *params, int n_params, const char *kernel,
                int address_size, const char *how, FILE *err);
/* Reads the files of in: inout: and bytes:. */
bool arg_load(struct arg *a, char *err, size_t err_size);
#endif
