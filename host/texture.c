/* Textures, samplers and surfaces: objects, and bindings to a module's references. */
#include "context.h"
#include "isa/exec/tex_sample.h"
#include <stdlib.h>
#include <string.h>

/* MAX_EXTENT: maximum number of texels in one dimension; tex1Dfetch of CUDA allows 2^27. MAX_LAYERS: maximum
 * number of layers of an array. */
enum { MAX_EXTENT = 1 << 27, MAX_LAYERS = 1 << 16 };

_Static_assert((int)HEDDLE_F32 == (int)TEX_F32 && (int)HEDDLE_BORDER == (int)TEX_BORDER,
               "numbers are shared with isa/");

uint64_t texture_add(struct heddle *h, const struct texture *t) {
    struct texture *more = realloc(h->textures, (h->n_textures + (size_t)1) * sizeof *more);
    if (!more)
        return 0;
    h->textures = more;
    more[h->n_textures] = *t;
    return TEXTURE_HANDLE + h->n_textures++;
}

static bool set_sampler(struct heddle *h, const struct heddle_sampler *s, struct texture *out) {
    for (int i = 0; i < 3; i++) {
        if ((unsigned)s->address[i] > HEDDLE_BORDER) {
            fail(h, HEDDLE_USAGE, "address mode %d of a sampler: there are 0 to %d", (int)s->address[i], HEDDLE_BORDER);
            return false;
        }
        out->address[i] = (uint8_t)s->address[i];
    }
    out->linear = s->linear;
    out->linear_levels = s->linear_levels;
    memcpy(out->border, s->border, sizeof out->border);
    out->texel_coords = s->texel_coords;
    return true;
}

/* Returns the reason why the texture's shape is invalid, or NULL if it is valid. */
static const char *bad_shape(const struct heddle_texture *t) {
    uint32_t largest = t->width > t->height ? t->width : t->height;
    if (t->depth > largest)
        largest = t->depth;
    if (!t->width || largest > MAX_EXTENT || t->layers > MAX_LAYERS)
        return "it has at least one texel, at most 2^27 in each dimension, and at most 65536 layers";
    if (t->depth && (!t->height || t->layers || t->cube))
        return "three dimensions have a height, and neither layers nor faces";
    if (t->cube && t->width != t->height)
        return "the faces of a cube are square";
    if (t->channels == 3 || t->channels > 4)
        return "it has 1, 2 or 4 channels";
    if ((unsigned)t->format > HEDDLE_F32)
        return "its format is none";
    if (t->levels > TEX_MAX_LEVELS || (t->levels > 1 && largest >> (t->levels - 1) == 0))
        return "it has more mipmap levels than its size can be halved";
    return NULL;
}

/* Computes the bytes from the first texel to the end of the last. Returns false if the size overflows. */
static bool bytes_of(const struct texture *t, uint64_t *bytes) {
    const uint64_t faces = (uint64_t)(t->layers ? t->layers : 1) * (t->cube ? 6 : 1);
    if (__builtin_mul_overflow(t->slice, faces * tex_extent(t, 2), bytes) || *bytes >> 48)
        return false;
    struct texture last = tex_level(t, t->levels - 1u);
    *bytes = last.data - t->data + last.slice * (faces * tex_extent(&last, 2) - 1) +
             last.pitch * (tex_extent(&last, 1) - 1) + (uint64_t)last.width * tex_texel_bytes(t);
    return true;
}

static bool convert(struct heddle *h, const struct heddle_texture *t, enum texture_kind kind, const char *name,
                    struct texture *out) {
    const char *what = name ? name : kind == TEXTURE_SURFACE ? "surface object" : "texture object";
    const char *why = bad_shape(t);
    if (why) {
        fail(h, HEDDLE_USAGE, "'%s': %s", what, why);
        return false;
    }
    *out = (struct texture){.data = t->data,
                            .width = t->width,
                            .height = t->height,
                            .depth = t->depth,
                            .layers = t->layers,
                            .kind = (uint8_t)kind,
                            .channels = (uint8_t)(t->channels ? t->channels : 1),
                            .format = (uint8_t)t->format,
                            .levels = (uint8_t)(t->levels ? t->levels : 1),
                            .cube = t->cube,
                            .normalized_read = t->normalized_read,
                            .normalized_coords = t->normalized_coords,
                            .name = name};
    uint64_t row = (uint64_t)t->width * tex_texel_bytes(out), bytes = 0;
    out->pitch = t->pitch ? t->pitch : row;
    if (!set_sampler(h, &t->sampler, out))
        return false;
    if (out->pitch < row || out->pitch % tex_texel_bytes(out)) {
        fail(h, HEDDLE_USAGE, "'%s': a pitch of %llu bytes; a row has %llu, and texels of %u bytes are not split", what,
             (unsigned long long)out->pitch, (unsigned long long)row, tex_texel_bytes(out));
        return false;
    }
    bool fits = !__builtin_mul_overflow(out->pitch, (uint64_t)tex_extent(out, 1), &out->slice) && bytes_of(out, &bytes);
    if (fits && mem_find(&h->memory, t->data, bytes, &(uint32_t){0}))
        return true;
    fail(h, HEDDLE_USAGE, "'%s': %llu bytes at 0x%llx are not all in one allocation of device memory", what,
         (unsigned long long)bytes, (unsigned long long)t->data);
    return false;
}

/* Returns the texture of the module's reference `name`: a .samplerref if `sampler` is set, else a .texref or .surfref.
 * Returns NULL with a message if there is none. */
static struct texture *find_reference(struct heddle *h, const struct heddle_module *m, const char *name, bool sampler) {
    for (uint32_t i = 0; i < m->image->n_variables; i++) {
        const struct image_variable *v = &m->image->variables[i];
        if (v->space != SPACE_TEX || v->is_extern || strcmp(v->name, name) != 0)
            continue;
        struct texture *t = &h->textures[v->address - TEXTURE_HANDLE];
        if ((t->kind == TEXTURE_SAMPLER) == sampler)
            return t;
        fail(h, HEDDLE_USAGE, "%s: '%s' is a %s", m->name, name, sampler ? "texture or surface" : "sampler");
        return NULL;
    }
    fail(h, HEDDLE_USAGE, "%s: no %s is called '%s'", m->name, sampler ? "sampler" : "texture or surface", name);
    return NULL;
}

enum heddle_status heddle_bind_texture(struct heddle *h, struct heddle_module *m, const char *name,
                                       const struct heddle_texture *t) {
    if (!module_enter(h, m) || !given(h, name, "the texture's name") || !given(h, t, "the texture"))
        return HEDDLE_USAGE;
    struct texture *to = find_reference(h, m, name, false), made;
    if (!to || !convert(h, t, to->kind, to->name, &made))
        return h->status;
    *to = made;
    return HEDDLE_OK;
}

enum heddle_status heddle_bind_sampler(struct heddle *h, struct heddle_module *m, const char *name,
                                       const struct heddle_sampler *s) {
    if (!module_enter(h, m) || !given(h, name, "the sampler's name") || !given(h, s, "the sampler"))
        return HEDDLE_USAGE;
    struct texture *to = find_reference(h, m, name, true);
    return to && set_sampler(h, s, to) ? HEDDLE_OK : h->status;
}

static uint64_t add_object(struct heddle *h, const struct texture *t) {
    uint64_t handle = texture_add(h, t);
    if (!handle)
        fail_memory(h);
    return handle;
}

uint64_t heddle_texture_object(struct heddle *h, const struct heddle_texture *t) {
    if (!context_enter(h) || !given(h, t, "the texture"))
        return 0;
    struct texture made;
    return convert(h, t, TEXTURE_TEXTURE, NULL, &made) ? add_object(h, &made) : 0;
}

uint64_t heddle_surface_object(struct heddle *h, const struct heddle_texture *t) {
    if (!context_enter(h) || !given(h, t, "the surface"))
        return 0;
    struct texture made;
    return convert(h, t, TEXTURE_SURFACE, NULL, &made) ? add_object(h, &made) : 0;
}

uint64_t heddle_sampler_object(struct heddle *h, const struct heddle_sampler *s) {
    if (!context_enter(h) || !given(h, s, "the sampler"))
        return 0;
    struct texture made = {.kind = TEXTURE_SAMPLER};
    return set_sampler(h, s, &made) ? add_object(h, &made) : 0;
}
