#include "args.h"
#include "texture_arg.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct value_type value_types[] = {
    {"u8", 'u', 1},  {"s8", 's', 1},  {"u16", 'u', 2}, {"s16", 's', 2}, {"u32", 'u', 4},
    {"s32", 's', 4}, {"u64", 'u', 8}, {"s64", 's', 8}, {"f32", 'f', 4}, {"f64", 'f', 8},
};

const struct value_type *value_type(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof value_types / sizeof value_types[0]; i++)
        if (strlen(value_types[i].name) == len && memcmp(value_types[i].name, name, len) == 0)
            return &value_types[i];
    return NULL;
}

static bool refuse(char *err, size_t size, const char *spec, const char *why) {
    snprintf(err, size, "argument '%s': %s", spec, why);
    return false;
}

bool parse_bytes(const char *text, uint64_t *out) {
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno)
        return false;
    unsigned shift = 0;
    switch (*end) {
    case 'k':
    case 'K':
        shift = 10;
        break;
    case 'm':
    case 'M':
        shift = 20;
        break;
    case 'g':
    case 'G':
        shift = 30;
        break;
    default:
        break;
    }
    end += shift != 0;
    if (*end || (shift && v >> (64 - shift)))
        return false;
    *out = (uint64_t)v << shift;
    return true;
}

static bool parse_integer(const char *text, const struct value_type *t, unsigned char *out) {
    bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');
    if (*digits < '0' || *digits > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(digits, &end, 0);
    if (errno || *end)
        return false;
    unsigned bits = 8 * t->bytes;
    unsigned long long most = t->class == 'u' ? (bits == 64 ? ~0ull : (1ull << bits) - 1)
                              : negative      ? 1ull << (bits - 1)
                                              : (1ull << (bits - 1)) - 1;
    if (v > most || (negative && t->class == 'u' && v))
        return false;
    uint64_t stored = negative ? 0 - v : v;
    memcpy(out, &stored, t->bytes); /* little-endian, as the device is */
    return true;
}

/* Parses PTX's spelling of float bits: 0f3F800000, 0d3FF0000000000000. */
static bool parse_bits(const char *text, unsigned bytes, unsigned char *out) {
    if (text[0] != '0' || (bytes == 4 ? text[1] != 'f' && text[1] != 'F' : text[1] != 'd' && text[1] != 'D'))
        return false;
    if (strlen(text + 2) != 2 * bytes || strspn(text + 2, "0123456789abcdefABCDEF") != 2 * bytes)
        return false;
    uint64_t v = strtoull(text + 2, NULL, 16);
    memcpy(out, &v, bytes);
    return true;
}

static bool parse_float(const char *text, const struct value_type *t, unsigned char *out) {
    if (parse_bits(text, t->bytes, out))
        return true;
    if (!*text || strchr(" \t\n", *text))
        return false;
    char *end;
    errno = 0;
    if (t->bytes == 4) {
        float v = strtof(text, &end);
        if (*end || (errno == ERANGE && isinf(v)))
            return false;
        memcpy(out, &v, sizeof v);
    } else {
        double v = strtod(text, &end);
        if (*end || (errno == ERANGE && isinf(v)))
            return false;
        memcpy(out, &v, sizeof v);
    }
    return true;
}

static bool parse_value(const struct value_type *t, const char *text, struct arg *a, char *err, size_t size) {
    a->kind = ARG_VALUE;
    a->type = t->name;
    a->bytes = t->bytes;
    if (t->class == 'f' ? parse_float(text, t, a->value) : parse_integer(text, t, a->value))
        return true;
    char why[192];
    if (t->class == 'f')
        snprintf(why, sizeof why, "'%s' is no %s value (1.5, 1e-3, 0x1.8p3, inf, nan, or bits as %s)", text, t->name,
                 t->bytes == 4 ? "0f3F800000" : "0d3FF0000000000000");
    else if (t->class == 'u')
        snprintf(why, sizeof why, "'%s' is no %s value (0 to %llu)", text, t->name,
                 t->bytes == 8 ? ~0ull : (1ull << 8 * t->bytes) - 1);
    else
        snprintf(why, sizeof why, "'%s' is no %s value (-%llu to %llu)", text, t->name, 1ull << (8 * t->bytes - 1),
                 (1ull << (8 * t->bytes - 1)) - 1);
    return refuse(err, size, a->spec, why);
}

static bool parse_in(const char *rest, struct arg *a, char *err, size_t size) {
    if (!*rest)
        return refuse(err, size, a->spec, "a file is missing after the colon");
    a->in_file = strdup(rest);
    return a->in_file || refuse(err, size, a->spec, "the host is out of memory");
}

/* Parses out:FILE:BYTES; the file's name may contain colons. */
static bool parse_out(const char *rest, struct arg *a, char *err, size_t size) {
    const char *colon = strrchr(rest, ':');
    if (!colon || colon == rest)
        return refuse(err, size, a->spec, "it is written out:FILE:BYTES");
    if (!parse_bytes(colon + 1, &a->bytes) || !a->bytes)
        return refuse(err, size, a->spec, "BYTES is a positive number, with K, M or G for powers of 1024");
    a->out_file = strndup(rest, (size_t)(colon - rest));
    return a->out_file || refuse(err, size, a->spec, "the host is out of memory");
}

static bool parse_inout(const char *rest, struct arg *a, char *err, size_t size) {
    const char *colon = strchr(rest, ':');
    if (!colon || colon == rest || !colon[1])
        return refuse(err, size, a->spec, "it is written inout:FILE:OUTFILE");
    a->in_file = strndup(rest, (size_t)(colon - rest));
    a->out_file = strdup(colon + 1);
    return (a->in_file && a->out_file) || refuse(err, size, a->spec, "the host is out of memory");
}

static bool parse_zero(const char *rest, struct arg *a, char *err, size_t size) {
    return (parse_bytes(rest, &a->bytes) && a->bytes) ||
           refuse(err, size, a->spec, "it is written zero:BYTES, a positive number, with K, M or G for powers of 1024");
}

bool arg_parse_plain(const char *spec, struct arg *out, char *err, size_t err_size) {
    static const struct {
        const char *name;
        enum arg_kind kind;
        bool (*parse)(const char *rest, struct arg *a, char *err, size_t size);
    } kinds[] = {
        {"in", ARG_IN, parse_in},          {"bytes", ARG_BYTES, parse_in}, {"out", ARG_OUT, parse_out},
        {"inout", ARG_INOUT, parse_inout}, {"zero", ARG_ZERO, parse_zero},
    };
    *out = (struct arg){.spec = spec};
    const char *colon = strchr(spec, ':');
    size_t len = colon ? (size_t)(colon - spec) : 0;
    for (size_t i = 0; colon && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, spec, len) == 0) {
            out->kind = kinds[i].kind;
            return kinds[i].parse(colon + 1, out, err, err_size);
        }
    const struct value_type *t = colon ? value_type(spec, len) : NULL;
    if (t)
        return parse_value(t, colon + 1, out, err, err_size);
    return refuse(err, err_size, spec,
                  "an argument begins with one of u8: s8: u16: s16: u32: s32: u64: s64: f32: f64: in: out: "
                  "inout: zero: bytes: tex: surf: sampler:");
}

void arg_free(struct arg *a) {
    free(a->in_file);
    free(a->out_file);
    free(a->data);
    free(a->texture);
    if (a->in)
        fclose(a->in);
    a->in = NULL;
    a->in_file = a->out_file = NULL;
    a->data = NULL;
    a->texture = NULL;
}

static bool is_buffer(const struct arg *a) { return a->kind >= ARG_IN; }

/* Returns why the argument does not fit the parameter; NULL: it fits. */
static const char *mismatch(const struct arg *a, const struct heddle_param *p, int address_size, char *out,
                            size_t size) {
    char class = p->type[1]; /* ".u32" */
    uint32_t scalar = (uint32_t)strtoul(p->type + 2, NULL, 10) / 8;
    /* the parameter is an array, such as .param .align 4 .b8 x[12], or a vector */
    bool block = scalar && p->bytes != scalar;
    if (a->object) {
        if (!block && p->bytes == sizeof a->handle && class != 'f')
            return NULL;
        snprintf(out, size, "a handle needs an integer parameter of 64 bits, or a .texref, .surfref or .samplerref");
    } else if (is_buffer(a)) {
        if (!block && p->bytes == (uint32_t)address_size / 8 && class != 'f')
            return NULL;
        snprintf(out, size, "a buffer's address needs an integer parameter of %d bits", address_size);
    } else if (a->kind == ARG_BYTES) {
        return NULL; /* the number of bytes is checked later, when the file is read */
    } else if (block || a->bytes != p->bytes) {
        snprintf(out, size, "%s has %u byte%s, the parameter %u%s", a->type, (unsigned)a->bytes,
                 a->bytes == 1 ? "" : "s", p->bytes, block ? ": pass it with bytes:FILE" : "");
    } else if (class != 'b' && (class == 'f') != (a->type[0] == 'f')) {
        snprintf(out, size, "%s is %s, the parameter is %s", a->type,
                 a->type[0] == 'f' ? "floating point" : "an integer", class == 'f' ? "floating point" : "an integer");
    } else {
        return NULL;
    }
    return out;
}

static void print_param(const struct heddle_param *p, FILE *err) {
    unsigned long scalar = strtoul(p->type + 2, NULL, 10) / 8;
    fprintf(err, "%-5s %s", p->type, p->name ? p->name : "_");
    if (scalar && p->bytes != scalar)
        fprintf(err, "[%lu]", p->bytes / scalar);
}

bool args_match(const struct arg *args, int n, const struct heddle_param *params, int n_params, const char *kernel,
                int address_size, const char *how, FILE *err) {
    char why[192];
    int wrong = n == n_params ? 0 : -1;
    for (int i = 0; i < n && i < n_params; i++)
        if (mismatch(&args[i], &params[i], address_size, why, sizeof why) && wrong >= 0)
            wrong++;
    if (!wrong)
        return true;
    if (wrong < 0)
        fprintf(err, "kernel '%s' takes %d argument%s, and %d %s given (%sin this order):\n", kernel, n_params,
                n_params == 1 ? "" : "s", n, n == 1 ? "was" : "were", how);
    else
        fprintf(err, "kernel '%s': %d argument%s not fit the parameter%s:\n", kernel, wrong,
                wrong == 1 ? " does" : "s do", wrong == 1 ? "" : "s");
    for (int i = 0; i < n || i < n_params; i++) {
        fprintf(err, "  %2d  ", i + 1);
        if (i < n_params)
            print_param(&params[i], err);
        else
            fputs("(no such parameter)", err);
        fprintf(err, "  <-  %s", i < n ? args[i].spec : "(missing)");
        if (i < n && i < n_params && mismatch(&args[i], &params[i], address_size, why, sizeof why))
            fprintf(err, "   %s", why);
        fputc('\n', err);
    }
    return false;
}

bool arg_load(struct arg *a, char *err, size_t err_size) {
    if (!a->in_file || a->in)
        return true;
    struct stat st;
    int fd = open(a->in_file, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* with this flag, open() does not block on a FIFO */
    FILE *f = fd >= 0 && fstat(fd, &st) == 0 ? fdopen(fd, "rb") : NULL;
    if (!f) {
        refuse(err, err_size, a->spec, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    const char *why = NULL;
    if (!S_ISREG(st.st_mode))
        why = "is not a regular file";
    else if (st.st_size == 0)
        why = "the file is empty";
    else if (is_buffer(a))
        a->in = f;
    else if (!(a->data = malloc((size_t)st.st_size)))
        why = "the host is out of memory";
    else if (fread(a->data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
        why = "the file cannot be read";
    if (!a->in)
        fclose(f);
    if (why)
        return refuse(err, err_size, a->spec, why);
    a->bytes = (uint64_t)st.st_size;
    return true;
}
