/* Textures and samplers of a program. At each kernel launch, a texture is bound to the memory that its buffer's name
 * then refers to; a swap changes this memory. */
#include "parts.h"
#include "texture_arg.h"
#include <stdlib.h>
#include <string.h>

int find_texture(const struct run *r, const char *name) {
    for (int i = 0; i < r->n_textures; i++)
        if (strcmp(r->textures[i].name, name) == 0)
            return i;
    return -1;
}

static bool make(struct run *r, const config_setting_t *s, struct script_texture *t) {
    t->name = config_setting_name(s);
    t->at = s;
    t->buffer = -1;
    texture_defaults(&t->t);
    if (!config_setting_is_group(s))
        return run_fail(r, s, NULL, 0, "it is a group: %s = { filter = \"linear\"; ... }", t->name);
    if (!t->is_sampler && (t->buffer = named_buffer(r, config_setting_get_member(s, "buffer"))) < 0)
        return run_fail(r, s, NULL, 0, "of which buffer? buffer = \"NAME\" is missing");
    for (int i = 0; i < config_setting_length(s); i++) {
        const config_setting_t *p = config_setting_get_elem(s, (unsigned)i);
        char why[256], spare[40];
        const char *value = setting_text(p, spare);
        if (!t->is_sampler && strcmp(config_setting_name(p), "buffer") == 0)
            continue;
        if (!texture_property(config_setting_name(p), value, t->is_sampler, &t->t, why, sizeof why))
            return run_fail(r, p, value, 0, "%s", why);
    }
    return t->is_sampler || t->t.width || run_fail(r, s, NULL, 0, "its size is missing: size = \"640x480\"");
}

bool make_textures(struct run *r) {
    static const char *const groups[] = {"textures", "samplers"};
    const config_setting_t *group[2];
    int n[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        if (!read_group(r, r->p->root, groups[k], &group[k]))
            return false;
        n[k] = group[k] ? config_setting_length(group[k]) : 0;
    }
    r->textures = calloc((size_t)(n[0] + n[1]) + 1, sizeof *r->textures);
    if (!r->textures)
        return run_no_memory(r);
    for (int i = 0; i < n[0] + n[1]; i++) {
        bool sampler = i >= n[0];
        struct script_texture *t = &r->textures[i];
        t->is_sampler = sampler;
        if (!make(r, config_setting_get_elem(group[sampler], (unsigned)(sampler ? i - n[0] : i)), t))
            return false;
        if (find_texture(r, t->name) >= 0)
            return run_fail(r, t->at, NULL, 0, "there is a texture '%s' already", t->name);
        r->n_textures++;
    }
    return true;
}

/* Returns the description of the texture with the current device address of its buffer. */
static struct heddle_texture now(const struct run *r, const struct script_texture *t) {
    struct heddle_texture out = t->t;
    out.data = t->buffer >= 0 ? r->buffers[t->buffer].address : 0;
    return out;
}

bool bind_textures(struct run *r) {
    for (int i = 0; r->h && i < r->n_textures; i++) {
        struct script_texture *t = &r->textures[i];
        struct heddle_texture texture = now(r, t);
        uint64_t mark = t->is_sampler ? 1 : texture.data;
        if (t->bound == mark)
            continue;
        t->bound = mark;
        /* binds the texture in each module that has a reference of this name; a texture that no module names can only
         * be used as an object */
        for (int m = 0; m < r->n_modules; m++) {
            struct heddle_module *module = r->modules[m].m;
            if (heddle_symbol(r->h, module, t->name, NULL) &&
                (t->is_sampler ? heddle_bind_sampler(r->h, module, t->name, &t->t.sampler)
                               : heddle_bind_texture(r->h, module, t->name, &texture)) != HEDDLE_OK)
                return run_library(r, t->at, t->name);
        }
    }
    return true;
}

bool texture_handle(struct run *r, const config_setting_t *s, struct script_texture *t, enum arg_object object,
                    uint64_t *out) {
    struct heddle_texture texture = now(r, t);
    for (int i = 0; i < t->n_handles; i++)
        if (t->handles[i].address == texture.data && t->handles[i].object == object) {
            *out = t->handles[i].handle;
            return true;
        }
    *out = object == ARG_SAMPLER   ? heddle_sampler_object(r->h, &texture.sampler)
           : object == ARG_SURFACE ? heddle_surface_object(r->h, &texture)
                                   : heddle_texture_object(r->h, &texture);
    if (!*out)
        return run_library(r, s, t->name);
    if (t->n_handles < TEXTURE_HANDLES) {
        t->handles[t->n_handles].address = texture.data;
        t->handles[t->n_handles].object = object;
        t->handles[t->n_handles++].handle = *out;
    }
    return true;
}
