/* Processes initialisers of module variables: fills bytes, and lists the addresses to insert later. */
#include "frontend/analysis/ir.h"
#include "image.h"
#include "isa/arith.h"
#include <string.h>

struct filler {
    struct image *img;
    struct diags *d;
    const struct variable *v;
    enum type type;
    uint32_t index;      /* index of the image variable */
    uint64_t elements;   /* number of scalars in the variable */
    uint64_t stride[10]; /* nesting level of braces -> number of scalars in one element there; 1 for the last level */
    int n_levels;
    uint64_t at; /* index of the next scalar */
    bool full_reported;
};

/* Fills `stride`: stride[i] is the number of scalars in one element of a brace list at nesting level i. The levels are
 * the dimensions of the array and then, for a vector type, the vector. Returns the number of levels. */
static int strides(const struct variable *v, uint64_t stride[10]) {
    uint64_t size[10];
    int n = 0;
    for (int i = 0; i < v->n_dims && v->is_array && n < 8; i++)
        size[n++] = v->dims[i];
    if (v->vector)
        size[n++] = (uint64_t)(v->vector->text[2] - '0');
    uint64_t below = 1;
    for (int i = n; i-- > 0;) {
        stride[i] = below;
        below *= size[i] ? size[i] : 1;
    }
    return n;
}

uint64_t initializer_count(const struct variable *v) {
    uint64_t stride[10], at = 0;
    strides(v, stride);
    if (v->init->kind != INIT_LIST)
        return 1;
    for (const struct init *i = v->init->list; i; i = i->next)
        if (i->kind == INIT_LIST)
            at = round_up(at, stride[0]) + stride[0];
        else
            at++;
    return (at + stride[0] - 1) / stride[0];
}

/* Stores `bits` in the next scalar: truncated, or zero-extended if the type is wider than 64 bits. */
static void store_scalar(struct filler *f, uint64_t bits) {
    unsigned bytes = type_bytes(f->type);
    memcpy(f->img->variables[f->index].init + f->at * bytes, &bits, bytes < sizeof bits ? bytes : sizeof bits);
}

static void add_reloc(struct filler *f, const struct init *i, const struct symbol *s, int64_t addend) {
    struct image *img = f->img;
    unsigned bytes = type_bytes(f->type), shift = i->mask ? (unsigned)__builtin_ctzll(i->mask) : 0;
    if (img->n_relocs == img->names->cap_relocs)
        img->relocs = ir_grow(img->arena, img->relocs, img->n_relocs, &img->names->cap_relocs, sizeof *img->relocs);
    img->relocs[img->n_relocs++] = (struct image_reloc){
        .var = f->index,
        .offset = (uint32_t)(f->at * bytes),
        .bytes = bytes,
        .shift = shift,
        .symbol = s->kind == SYM_FUNCTION ? UINT32_MAX : s->index,
        .function_id = s->kind == SYM_FUNCTION ? s->index : 0,
        .addend = addend,
    };
}

static void fill_symbol(struct filler *f, const struct init *i, const struct operand *name, int64_t addend) {
    const struct symbol *s = f->img->names->names.of_word[name->name->id];
    unsigned address = (unsigned)f->img->address_size / 8, bytes = type_bytes(f->type);
    if (!s) {
        diag_error(f->d, name->loc, "'%s' is not declared", name->name->text);
        const char *near =
            names_suggest(&f->img->names->names, name->name->text, 1u << SYM_VARIABLE | 1u << SYM_FUNCTION);
        if (near)
            diag_help(f->d, "did you mean '%s'?", near);
    } else if (s->kind == SYM_VARIABLE && s->home != HOME_DEVICE) {
        diag_error(f->d, name->loc, "'%s' is in %s; its address is not known before a kernel runs", name->name->text,
                   s->variable->space->text);
    } else if (s->kind == SYM_VARIABLE && f->img->variables[s->index].is_extern) {
        diag_error(f->d, name->loc, "'%s' is declared .extern but not defined", name->name->text);
    } else if (type_class(f->type) == 'f' || (bytes < address && !i->mask && bytes != 8)) {
        diag_error(f->d, name->loc, "an address takes %u bits; the elements of '%s' are %s", address * 8,
                   f->v->name->text, type_name(f->type));
    } else {
        add_reloc(f, i, s, addend);
    }
}

static void fill_integer(struct filler *f, const struct operand *o) {
    unsigned bits = 8 * type_bytes(f->type);
    int64_t value = (int64_t)o->integer;
    if (type_class(f->type) == 'f') {
        double real = o->is_unsigned ? (double)o->integer : (double)value;
        float single = (float)real;
        uint64_t image = 0;
        memcpy(&image, f->type == T_F32 ? (void *)&single : (void *)&real, bits / 8 < 8 ? bits / 8 : 8);
        if (f->type == T_F32 || f->type == T_F64)
            store_scalar(f, image);
        else
            store_scalar(f, o->integer);
    } else { /* store_scalar() truncates a constant that is wider than the type (PTX ISA, 4.5) */
        store_scalar(f, o->integer);
    }
}

/* Stores a float. A 64-bit number is converted for a 32-bit variable. The exact bits of a 0f number are never
 * converted; a wider variable gets leading zeros. */
static void fill_real(struct filler *f, const struct operand *o) {
    uint64_t bits = o->real;
    if (o->real_bits == 64 && type_bytes(f->type) == 4) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        float narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    if (f->type == T_F32 || f->type == T_F64 ||
        (type_class(f->type) == 'b' && (type_bytes(f->type) == 4 || type_bytes(f->type) == 8)))
        store_scalar(f, bits);
    else
        diag_error(f->d, o->loc, "a floating-point number cannot initialise %s", type_name(f->type));
}

static void fill_value(struct filler *f, const struct init *i) {
    const struct operand *o = i->value;
    if (f->at >= f->elements) {
        if (!f->full_reported)
            diag_error(f->d, i->loc, "more values than '%s' has elements (%llu)", f->v->name->text,
                       (unsigned long long)f->elements);
        f->full_reported = true;
        return;
    }
    if (!o)
        return;
    const struct operand *base = o->kind == OPD_SUM ? o->sub : o;
    if ((i->address_operator || o->kind == OPD_SUM) && base->kind != OPD_NAME) {
        diag_error(f->d, base->loc, "'%s' expects the name of a variable",
                   i->address_operator ? i->address_operator->text : "+");
        return;
    }
    switch (o->kind) {
    case OPD_INT:
        fill_integer(f, o);
        break;
    case OPD_FLOAT:
        fill_real(f, o);
        break;
    case OPD_NAME:
        fill_symbol(f, i, o, 0);
        break;
    case OPD_SUM:
        fill_symbol(f, i, o->sub, (int64_t)o->integer);
        break;
    default:
        diag_error(f->d, i->loc, "initialiser must be a number or an address");
        break;
    }
    f->at++;
}

/* Fills bytes of the variable from the list of one pair of braces. The recursion depth is the brace nesting, which the
 * parser limits. */
static void fill_list(struct filler *f, const struct init *list, int level) {
    uint64_t begin = f->at, stride = level < f->n_levels ? f->stride[level] : 1;
    for (const struct init *i = list; i; i = i->next) {
        if (i->kind != INIT_LIST) {
            fill_value(f, i);
            continue;
        }
        if (level + 1 >= f->n_levels && f->n_levels) {
            diag_error(f->d, i->loc, "more braces than '%s' has dimensions", f->v->name->text);
            return;
        }
        f->at = begin + round_up(f->at - begin, stride);
        uint64_t element = f->at;
        fill_list(f, i->list, level + 1);
        if (f->at > element + stride && !f->full_reported) {
            diag_error(f->d, i->loc, "more values than an element of '%s' has (%llu)", f->v->name->text,
                       (unsigned long long)stride);
            f->full_reported = true;
        }
        f->at = element + stride;
    }
}

void image_initialize(struct image *img, const struct variable *v, enum type t, uint32_t index) {
    struct image_variable *out = &img->variables[index];
    if (t == T_NONE || t == T_PRED || out->bytes == 0)
        return;
    struct filler f = {.img = img, .d = img->module->diags, .v = v, .type = t, .index = index};
    f.elements = out->bytes / type_bytes(t);
    f.n_levels = strides(v, f.stride);
    out->init = arena_array(img->arena, out->bytes, 1);
    if (v->init->kind == INIT_VALUE)
        fill_value(&f, v->init);
    else if (f.n_levels == 0)
        diag_error(f.d, v->init->loc, "'%s' is a scalar; its initialiser has no braces", v->name->text);
    else
        fill_list(&f, v->init->list, 0);
}
