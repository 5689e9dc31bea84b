/* Initialisers of module-scope textures, samplers and surfaces, which set properties:
 *     .global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = linear };
 * (PTX ISA 5.3). Properties of the memory are only checked here; the host sets them when it binds memory. */
#include "image.h"
#include <string.h>

struct property {
    const char *name;
    /* true if it is a property of a sampler, which an initialiser may set; false if it is a property of the memory */
    bool sampler;
    /* name of the set of allowed words: "address" (address_words) or "filter" (filter_words); NULL: the value is a
     * number */
    const char *values;
};

static const struct property properties[] = {
    {"addr_mode_0", true, "address"},
    {"addr_mode_1", true, "address"},
    {"addr_mode_2", true, "address"},
    {"filter_mode", true, "filter"},
    {"normalized_coords", true, NULL},
    {"force_unnormalized_coords", true, NULL},
    {"width", false, NULL},
    {"height", false, NULL},
    {"depth", false, NULL},
    {"array_size", false, NULL},
    {"channel_data_type", false, NULL},
    {"channel_order", false, NULL},
    {"num_mipmap_levels", false, NULL},
    {"num_samples", false, NULL},
    {"memory_layout", false, NULL},
};

static const struct {
    const char *word;
    int value;
} address_words[] = {{"wrap", TEX_WRAP},
                     {"mirror", TEX_MIRROR},
                     {"clamp_ogl", TEX_CLAMP},
                     {"clamp_to_edge", TEX_CLAMP},
                     {"clamp_to_border", TEX_BORDER}},
  filter_words[] = {{"nearest", 0}, {"linear", 1}};

static const struct property *property_named(const struct word *name) {
    for (size_t i = 0; name && i < sizeof properties / sizeof *properties; i++)
        if (strcmp(properties[i].name, name->text) == 0)
            return &properties[i];
    return NULL;
}

/* Returns the value of a property, or -1 after reporting an error. */
static int value_of(struct diags *d, const struct property *p, const struct init *i) {
    const struct operand *o = i->value;
    if (!p->values) {
        if (o && o->kind == OPD_INT)
            return o->integer != 0;
        diag_error(d, i->loc, "'%s' takes a number", p->name);
        return -1;
    }
    bool address = strcmp(p->values, "address") == 0;
    for (size_t k = 0; o && o->kind == OPD_NAME && k < (address ? sizeof address_words / sizeof *address_words : 2);
         k++) {
        const char *word = address ? address_words[k].word : filter_words[k].word;
        if (strcmp(word, o->name->text) == 0)
            return address ? address_words[k].value : filter_words[k].value;
    }
    diag_error(d, i->loc, "'%s' takes %s", p->name,
               address ? "wrap, mirror, clamp_ogl, clamp_to_edge or clamp_to_border" : "nearest or linear");
    return -1;
}

static void set_property(struct diags *d, const struct init *i, struct texture *out) {
    const struct property *p = property_named(i->field);
    if (i->kind != INIT_VALUE || !i->field) {
        diag_error(d, i->loc, "initialise a texture or sampler by properties, as in { filter_mode = linear }");
        return;
    }
    if (!p) {
        diag_error(d, i->loc, "unknown property '%s' of a texture or sampler", i->field->text);
        return;
    }
    int value = value_of(d, p, i);
    if (value < 0 || !p->sampler)
        return;
    if (strncmp(p->name, "addr_mode_", 10) == 0)
        out->address[p->name[10] - '0'] = (uint8_t)value;
    else if (strcmp(p->name, "filter_mode") == 0)
        out->linear = out->linear_levels = value != 0;
    else if (strcmp(p->name, "normalized_coords") == 0)
        out->normalized_coords = value != 0;
    else
        out->texel_coords = value != 0;
}

void image_reference(struct image *img, const struct variable *v, struct texture *out) {
    *out = (struct texture){.kind = !is_opaque(v)                               ? TEXTURE_TEXTURE
                                    : strcmp(v->type->text, ".samplerref") == 0 ? TEXTURE_SAMPLER
                                    : strcmp(v->type->text, ".surfref") == 0    ? TEXTURE_SURFACE
                                                                                : TEXTURE_TEXTURE};
    if (!v->init)
        return;
    if (v->init->kind != INIT_LIST) {
        set_property(img->module->diags, v->init, out);
        return;
    }
    for (const struct init *i = v->init->list; i; i = i->next)
        set_property(img->module->diags, i, out);
}
