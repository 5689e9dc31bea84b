#ifndef HOST_PROGRAM_ARGS_H
#define HOST_PROGRAM_ARGS_H
/* Kernel arguments as written on the command line (-a SPEC), with their buffers and files. */
#include "host/heddle.h"

/* A type of values: u8 s8 ... u64 s64 f32 f64. `class`: u, s or f. */
struct value_type {
    const char *name;
    char class;
    unsigned bytes;
};
/* Finds a type by name; NULL: unknown. */
const struct value_type *value_type(const char *name, size_t len);

enum arg_kind { ARG_VALUE, ARG_BYTES, ARG_IN, ARG_OUT, ARG_INOUT, ARG_ZERO };
/* Kinds of argument objects. The kernel gets an object's handle in place of a value or an address. */
enum arg_object { ARG_PLAIN, ARG_TEXTURE, ARG_SURFACE, ARG_SAMPLER };

struct arg {
    const char *spec; /* as written; not owned */
    enum arg_kind kind;
    const char *type;         /* ARG_VALUE: "u32" */
    char *in_file, *out_file; /* NULL: this kind of argument has no such file */
    /* size of the value or buffer in bytes; the size of a buffer filled from a file is known after arg_load() */
    uint64_t bytes;
    unsigned char value[8]; /* the value, or a buffer's device address (its first 4 bytes in a 32-bit module) */
    unsigned char *data;    /* contents of in_file, later of the buffer */
    enum arg_object object;
    struct heddle_texture *texture; /* description of the object; a sampler uses the member `sampler` only */
    uint64_t handle;                /* handle of the object */
};

/* Parses one SPEC. Returns false with the reason in `err`. Call arg_free() in either case. arg_parse_plain() parses
 * values and buffers only; arg_parse(), in texture_arg.c, also parses textures, surfaces and samplers. */
bool arg_parse_plain(const char *spec, struct arg *out, char *err, size_t err_size);
bool arg_parse(const char *spec, struct arg *out, char *err, size_t err_size);
void arg_free(struct arg *a);
/* Parses "4096", "4K", "16M", "1G" (powers of 1024). False: the text is no size, or the size exceeds 64 bits. */
bool parse_bytes(const char *text, uint64_t *out);

/* Checks that the arguments fit the parameters. Returns false with a message on `err`: the mistake, the kernel's
 * parameters, and the given arguments. `address_size`: bits. `how`: the way in which arguments are given, "-a, "
 * or "". */
bool args_match(const struct arg *args, int n, const struct heddle_param *params, int n_params, const char *kernel,
                int address_size, const char *how, FILE *err);
/* Reads the file of in:, inout: and bytes:. Returns false with the reason in `err`. */
bool arg_load(struct arg *a, char *err, size_t err_size);
#endif
