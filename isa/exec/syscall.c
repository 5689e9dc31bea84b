/* Executes the system calls of kernels: vprintf, malloc, free, __assertfail. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "syscall.h"
#include "exec_mem.h"
#include "isa/rows.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SPEC = 64, MAX_WIDTH = 4095 };

/* Arguments of one lane's vprintf: packed in order, each aligned to its size. */
struct print_args {
    const struct warp *w;
    struct effects *fx;
    int lane;
    uint64_t at; /* generic address of the next argument */
    int taken;
};

/* A conversion of the format string: %[flags][width][.precision][length]letter. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    unsigned bytes;       /* bytes of an integer argument: 4 or 8 */
    unsigned keep;        /* low bytes of an integer argument that are printed: h keeps 2 bytes, hh keeps 1 */
    char letter;
};

static bool next_argument(struct print_args *a, unsigned bytes, uint64_t *value) {
    uint64_t left;
    a->at = (a->at + bytes - 1) & ~(uint64_t)(bytes - 1);
    const unsigned char *host = mem_generic(a->w, a->lane, a->at, &left);
    if (!host || left < bytes) {
        mem_fault(a->fx, FAULT_OUT_OF_BOUNDS, a->lane, SPACE_GENERIC, a->at, bytes);
        return false;
    }
    *value = 0;
    memcpy(value, host, bytes);
    a->at += bytes;
    a->taken++;
    return true;
}

/* Returns the zero-terminated string at a generic address. If it is not in memory, stores a fault in fx and returns
 * NULL. */
static const char *device_string(const struct warp *w, int lane, uint64_t at, struct effects *fx) {
    uint64_t left;
    const unsigned char *host = mem_generic(w, lane, at, &left);
    if (host && memchr(host, 0, left))
        return (const char *)host;
    mem_fault(fx, FAULT_OUT_OF_BOUNDS, lane, SPACE_GENERIC, at, 1);
    return NULL;
}

/* Parses digits or `*`. */
static bool parse_number(const char **p, struct print_args *a, int *out) {
    if (**p == '*') {
        uint64_t v;
        if (!next_argument(a, 4, &v))
            return false;
        a->taken--;
        *out = (int32_t)v;
        ++*p;
    } else {
        *out = 0;
        for (; isdigit((unsigned char)**p); ++*p)
            *out = *out > MAX_WIDTH ? MAX_WIDTH : *out * 10 + (**p - '0');
    }
    *out = *out > MAX_WIDTH ? MAX_WIDTH : *out;
    return true;
}

static void parse_length(const char **p, struct conversion *c) {
    c->bytes = c->keep = 4;
    for (; **p && strchr("hljztL", **p); ++*p) {
        if (**p == 'h')
            c->keep = c->keep == 2 ? 1 : 2;
        else if (**p != 'L')
            c->bytes = c->keep = 8;
    }
}

/* Parses what follows the percent sign. Returns false after a fault. */
static bool parse_conversion(const char **p, struct print_args *a, struct conversion *c) {
    *c = (struct conversion){.width = -1, .precision = -1};
    size_t n = 0;
    for (; **p && strchr("-+ #0", **p); ++*p)
        if (n < sizeof c->flags - 2)
            c->flags[n++] = **p;
    if ((isdigit((unsigned char)**p) || **p == '*') && !parse_number(p, a, &c->width))
        return false;
    if (c->width < -1) { /* from `*` */
        c->width = c->width < -MAX_WIDTH ? MAX_WIDTH : -c->width;
        c->flags[n] = '-';
    }
    if (**p == '.') {
        ++*p;
        if (!parse_number(p, a, &c->precision))
            return false;
    }
    parse_length(p, c);
    c->letter = **p;
    *p += c->letter != 0;
    return true;
}

/* Writes the conversion for the host's fprintf. */
static void host_spec(const struct conversion *c, const char *tail, char out[MAX_SPEC]) {
    int n = snprintf(out, MAX_SPEC, "%%%s", c->flags);
    if (c->width >= 0)
        n += snprintf(out + n, (size_t)(MAX_SPEC - n), "%d", c->width);
    if (c->precision >= 0)
        n += snprintf(out + n, (size_t)(MAX_SPEC - n), ".%d", c->precision);
    snprintf(out + n, (size_t)(MAX_SPEC - n), "%s", tail);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static bool print_integer(FILE *out, const struct conversion *c, struct print_args *a) {
    char spec[MAX_SPEC], tail[] = {'l', 'l', c->letter, 0};
    uint64_t v;
    if (!next_argument(a, c->bytes, &v))
        return false;
    unsigned shift = 64 - 8 * c->keep;
    if (c->letter == 'd' || c->letter == 'i')
        v = (uint64_t)((int64_t)(v << shift) >> shift);
    else
        v = v << shift >> shift;
    host_spec(c, tail, spec);
    fprintf(out, spec, (long long)v);
    return true;
}

static bool print_other(FILE *out, const struct conversion *c, struct print_args *a) {
    char spec[MAX_SPEC], tail[] = {c->letter, 0};
    uint64_t v;
    if (!next_argument(a, c->letter == 'c' ? 4 : 8, &v))
        return false;
    host_spec(c, tail, spec);
    if (c->letter == 'c') {
        fprintf(out, spec, (int)v);
    } else if (c->letter == 'p') {
        fprintf(out, spec, (void *)(uintptr_t)v);
    } else if (c->letter == 's') {
        const char *text = v ? device_string(a->w, a->lane, v, a->fx) : "(null)";
        if (!text)
            return false;
        fprintf(out, spec, text);
    } else {
        double d;
        memcpy(&d, &v, sizeof d);
        fprintf(out, spec, d);
    }
    return true;
}
#pragma GCC diagnostic pop

/* Prints the output of one lane's vprintf. Returns false after a fault. */
static bool print_lane(FILE *out, const char *format, struct print_args *a) {
    struct conversion c;
    for (const char *p = format; *p;) {
        size_t plain = strcspn(p, "%");
        fwrite(p, 1, plain, out);
        p += plain;
        if (!*p)
            break;
        const char *begin = p++;
        if (*p == '%') {
            fputc(*p++, out);
            continue;
        }
        if (!parse_conversion(&p, a, &c))
            return false;
        if (c.letter && strchr("diuxXo", c.letter)) {
            if (!print_integer(out, &c, a))
                return false;
        } else if (c.letter && strchr("fFeEgGaAcsp", c.letter)) {
            if (!print_other(out, &c, a))
                return false;
        } else {
            fwrite(begin, 1, (size_t)(p - begin), out); /* unknown conversion: printed as written */
        }
    }
    return true;
}

void sys_vprintf(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    FILE *out = w->cta->launch->device_stdout ? w->cta->launch->device_stdout : stdout;
    const uint64_t *format = reg_ptr(w, in->a), *args = reg_ptr(w, in->b);
    uint32_t result[WARP_LANES] = {0};
    for (rowmask_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        struct print_args a = {.w = w, .fx = fx, .lane = l, .at = args[l]};
        if (!format[l]) {
            result[l] = UINT32_MAX;
            continue;
        }
        const char *text = device_string(w, l, format[l], fx);
        if (!text || !print_lane(out, text, &a))
            return;
        result[l] = (uint32_t)a.taken;
    }
    if (in->d != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d), result, m, sizeof result[0]);
}

void sys_malloc(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)fx;
    const uint64_t *bytes = reg_ptr(w, in->a);
    uint64_t result[WARP_LANES] = {0};
    for (rowmask_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        result[l] = device_heap_alloc(w->cta->launch->memory->heap, bytes[l]);
    }
    blend_lanes(reg_ptr(w, in->d), result, m, sizeof result[0]);
}

void sys_free(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const uint64_t *address = reg_ptr(w, in->a);
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (address[l] && !device_heap_release(w->cta->launch->memory->heap, address[l])) {
            fx_fault_text(fx, FAULT_BAD_CALL, l, "free() of 0x%llx, which malloc() did not return or which is freed",
                          (unsigned long long)address[l]);
            return;
        }
    }
}

static void sys_assertfail(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    int l = __builtin_ctz(m);
    const opnd_t operand[3] = {in->a, in->b, in->e};
    const char *text[3]; /* message, file, function */
    for (int i = 0; i < 3; i++) {
        uint64_t at = ((const uint64_t *)reg_ptr(w, operand[i]))[l], left;
        const unsigned char *host = at ? mem_generic(w, l, at, &left) : NULL;
        text[i] = host && memchr(host, 0, left) ? (const char *)host : "?";
    }
    uint32_t line = ((const uint32_t *)reg_ptr(w, in->c))[l];
    const int most[3] = {80, 80, 60};
    const char *cut[3];
    for (int i = 0; i < 3; i++)
        cut[i] = strlen(text[i]) > (size_t)most[i] ? "..." : "";
    fx_fault_text(fx, FAULT_ASSERT, l, "%.80s%s:%u: %.60s%s: assertion `%.80s%s` failed", text[1], cut[1], line,
                  text[2], cut[2], text[0], cut[0]);
}

bool device_heap_prepare(const struct launch *l) {
    const struct program *p = l->program;
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (p->code[pc].kind == K_WARP && p->code[pc].fn.warp == sys_malloc)
            return mem_make_heap(l->memory);
    return true;
}

#define ROWS_FILE "isa/exec/syscall.c"
#define ROWS_NAME syscall
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Functions that the simulator provides; lowering turns calls of them into these rows. Operands: exec.h. */
WARP_FN(VPRINTF, T0, 0, WARP, INT_OTHER, OPDS(B32, NONE, B64, B64, NONE, NONE), sys_vprintf)
WARP_FN(MALLOC, T0, 0, WARP, INT_OTHER, OPDS(B64, NONE, B64, NONE, NONE, NONE), sys_malloc)
WARP_FN(FREE, T0, 0, WARP, INT_OTHER, OPDS(NONE, NONE, B64, NONE, NONE, NONE), sys_free)
WARP_FN(ASSERTFAIL, T0, 0, WARP, INT_OTHER, OPDS(NONE, NONE, B64, B64, B32, B64), sys_assertfail)
/* clang-format on */
#endif
