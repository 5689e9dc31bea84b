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
/* Kinds of objects that an argument may name. For an object, the kernel gets its handle; ARG_PLAIN is a value or a
 * buffer. */
enum arg_object { ARG_PLAIN, ARG_TEXTURE, ARG_SURFACE, ARG_SAMPLER };

struct arg {
    const char *spec; /* as written; not owned */
    enum arg_kind kind;
    const char *type;         /* ARG_VALUE: "u32" */
    char *in_file, *out_file; /* files that the buffer is read from and written to; NULL: there is none */
    /* size of the value or buffer in bytes; the size of a buffer filled from a file is known after arg_load() */
    uint64_t bytes;
    unsigned char value[8]; /* the value, or a buffer's device address (its first 4 bytes in a 32-bit module) */
    FILE *in;               /* the open in_file of a buffer, after arg_load() */
    unsigned char *data;    /* contents of a bytes: file; after the run, contents of the buffer, for out_file */
    enum arg_object object;
    /* description of a texture, surface or sampler object; for a sampler, only its member `sampler` is used */
    struct heddle_texture *texture;
    uint64_t handle; /* handle of the object */
};

/* Parses one SPEC. Returns false with the reason in `err`. Call arg_free() in either case. arg_parse_plain() parses
 * values and buffers only; arg_parse(), in texture_arg.c, also parses textures, surfaces and samplers. */
bool arg_parse_plain(const char *spec, struct arg *out, char *err, size_t err_size);
bool arg_parse(const char *spec, struct arg *out, char *err, size_t err_size);
void arg_free(struct arg *a);
/* Parses "4096", "4K", "16M", "1G" (powers of 1024). Returns false if the text is no size, or the size exceeds 64
 * bits. */
bool parse_bytes(const char *text, uint64_t *out);

/* Checks that the arguments fit the parameters. Returns false with a message on `err`: the mistake, the kernel's
 * parameters, and the given arguments. `address_size`: size of an address in bits. `how`: text for the message about
 * how arguments are given, "-a, " on the command line, else "". */
bool args_match(const struct arg *args, int n, const struct heddle_param *params, int n_params, const char *kernel,
                int address_size, const char *how, FILE *err);
/* Prepares the input file of an argument and stores its size. Opens the file of in: or inout:, which the caller copies
 * to the buffer. Reads the file of bytes: to `data`. Returns false with the reason in `err`. */
bool arg_load(struct arg *a, char *err, size_t err_size);
#endif
