#include "texture_arg.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parses a number that consists of digits only; sets `end` to the text after it. */
static bool parse_number(const char *text, char **end, uint32_t *out) {
    errno = 0;
    unsigned long long v = *text >= '0' && *text <= '9' ? strtoull(text, end, 10) : 0;
    if (!v || errno || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

/* Reads a texture's size, such as 640, 640x480 or 64x64x64. Returns false if the text is no size. */
static bool parse_size(const char *value, struct heddle_texture *t) {
    uint32_t *const dims[] = {&t->width, &t->height, &t->depth};
    char *at = (char *)value;
    for (int i = 0; i < 3; i++) {
        if (!parse_number(at, &at, dims[i]))
            return false;
        if (!*at)
            return true;
        if (*at++ != 'x')
            return false;
    }
    return false;
}

/* Reads a texel format, such as f32 or u8x4. Returns false if the text is no format. */
static bool parse_format(const char *value, struct heddle_texture *t) {
    static const char *const names[] = {"u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32"};
    size_t len = strcspn(value, "x");
    for (int i = 0; i < 8; i++)
        if (strlen(names[i]) == len && memcmp(names[i], value, len) == 0) {
            t->format = (enum heddle_format)i;
            t->channels = 1;
            if (!value[len])
                return true;
            t->channels = (uint32_t)(value[len + 1] - '0');
            return (t->channels == 1 || t->channels == 2 || t->channels == 4) && !value[len + 2];
        }
    return false;
}

/* Parses the address modes: one word for all dimensions, or one word for each dimension, as in wrap/clamp. */
static bool parse_address(const char *value, struct heddle_texture *t) {
    static const char *const names[] = {"wrap", "clamp", "mirror", "border"};
    for (int d = 0; d < 3; d++) {
        size_t len = strcspn(value, "/");
        int mode = 0;
        while (mode < 4 && (strlen(names[mode]) != len || memcmp(names[mode], value, len) != 0))
            mode++;
        if (mode == 4)
            return false;
        for (int k = d; k < 3; k++)
            t->sampler.address[k] = (enum heddle_address_mode)mode;
        if (!value[len])
            return true;
        value += len + 1;
    }
    return false;
}

/* Parses a word that is `no` or `yes`. Returns false for any other word. */
static bool parse_switch(const char *value, const char *no, const char *yes, bool *out) {
    *out = strcmp(value, yes) == 0;
    return *out || strcmp(value, no) == 0;
}

static bool parse_filter(const char *v, struct heddle_texture *t) {
    return parse_switch(v, "nearest", "linear", &t->sampler.linear);
}
static bool parse_level_filter(const char *v, struct heddle_texture *t) {
    return parse_switch(v, "nearest", "linear", &t->sampler.linear_levels);
}
static bool parse_read(const char *v, struct heddle_texture *t) {
    return parse_switch(v, "element", "normalized", &t->normalized_read);
}
static bool parse_coords(const char *v, struct heddle_texture *t) {
    bool normalized;
    if (!parse_switch(v, "texels", "normalized", &normalized))
        return false;
    t->normalized_coords = normalized;
    t->sampler.texel_coords = !normalized;
    return true;
}
static bool parse_layers(const char *v, struct heddle_texture *t) {
    char *end;
    return parse_number(v, &end, &t->layers) && !*end;
}
static bool parse_levels(const char *v, struct heddle_texture *t) {
    char *end;
    return parse_number(v, &end, &t->levels) && !*end;
}
static bool parse_pitch(const char *v, struct heddle_texture *t) { return parse_bytes(v, &t->pitch) && t->pitch; }
static bool parse_shape(const char *v, struct heddle_texture *t) { return parse_switch(v, "flat", "cube", &t->cube); }

static const struct {
    const char *name, *takes;
    bool of_sampler;
    bool (*parse)(const char *value, struct heddle_texture *t);
} properties[] = {
    {"size", "texels: WIDTH, WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH", false, parse_size},
    {"format", "u8 s8 u16 s16 u32 s32 f16 or f32, with x2 or x4 for channels: u8x4", false, parse_format},
    {"layers", "a positive number", false, parse_layers},
    {"levels", "a positive number", false, parse_levels},
    {"shape", "flat or cube", false, parse_shape},
    {"pitch", "a positive number of bytes", false, parse_pitch},
    {"read", "element or normalized", false, parse_read},
    {"coords", "texels or normalized", true, parse_coords},
    {"filter", "nearest or linear", true, parse_filter},
    {"level-filter", "nearest or linear", true, parse_level_filter},
    {"address", "wrap clamp mirror or border, one or one for each dimension: wrap/clamp", true, parse_address},
};
enum { N_PROPERTIES = sizeof properties / sizeof *properties };

void texture_defaults(struct heddle_texture *t) {
    *t = (struct heddle_texture){.format = HEDDLE_F32};
    for (int i = 0; i < 3; i++)
        t->sampler.address[i] = HEDDLE_CLAMP;
}

bool texture_property(const char *name, const char *value, bool is_sampler, struct heddle_texture *t, char *err,
                      size_t size) {
    for (int i = 0; i < N_PROPERTIES; i++) {
        if (strcmp(properties[i].name, name) != 0 || (is_sampler && !properties[i].of_sampler))
            continue;
        if (value && properties[i].parse(value, t))
            return true;
        snprintf(err, size, "'%s' takes %s", name, properties[i].takes);
        return false;
    }
    size_t n = (size_t)snprintf(err, size, "'%s' is no property; they are", name);
    for (int i = 0; i < N_PROPERTIES && n < size; i++)
        if (!is_sampler || properties[i].of_sampler)
            n += (size_t)snprintf(err + n, size - n, " %s", properties[i].name);
    return false;
}

/* Parses one PROPERTY=VALUE. Modifies the text. */
static bool parse_property(char *text, bool is_sampler, struct heddle_texture *t, char *err, size_t size) {
    char *value = strchr(text, '=');
    if (value)
        *value++ = '\0';
    return texture_property(text, value, is_sampler, t, err, size);
}

static bool parse_properties(char *text, bool is_sampler, struct heddle_texture *t, char *err, size_t size) {
    while (text) {
        char *comma = strchr(text, ',');
        if (comma)
            *comma++ = '\0';
        if (!parse_property(text, is_sampler, t, err, size))
            return false;
        text = comma;
    }
    if (is_sampler || t->width)
        return true;
    snprintf(err, size, "its size is missing: size=WIDTH, size=WIDTHxHEIGHT or size=WIDTHxHEIGHTxDEPTH");
    return false;
}

/* Returns the kind of object that the beginning of a SPEC names (such as "tex:"), or ARG_PLAIN. */
static enum arg_object object_of(const char *spec) {
    static const char *const names[] = {[ARG_TEXTURE] = "tex:", [ARG_SURFACE] = "surf:", [ARG_SAMPLER] = "sampler:"};
    for (int i = ARG_TEXTURE; i <= ARG_SAMPLER; i++)
        if (strncmp(spec, names[i], strlen(names[i])) == 0)
            return (enum arg_object)i;
    return ARG_PLAIN;
}

bool texture_arg_parse(const char *spec, enum arg_object object, struct arg *out, char *err, size_t err_size) {
    bool is_sampler = object == ARG_SAMPLER;
    char why[384] = "the host is out of memory";
    *out = (struct arg){.spec = spec, .object = object};
    out->texture = calloc(1, sizeof *out->texture);
    char *copy = strdup(spec), *at = copy;
    bool fine = copy && out->texture;
    if (fine && !is_sampler) {
        struct heddle_texture *texture = out->texture;
        if ((at = strchr(copy, ',')))
            *at++ = '\0';
        const bool is_object = object_of(copy) != ARG_PLAIN;
        if (!is_object && !arg_parse_plain(copy, out, why, sizeof why))
            fine = false;
        else if (is_object || out->kind < ARG_IN) {
            snprintf(why, sizeof why, "it begins with a buffer: in: out: inout: or zero:, then properties");
            fine = false;
        }
        out->spec = spec;
        out->object = object;
        out->texture = texture;
    }
    if (fine) {
        texture_defaults(out->texture);
        fine = parse_properties(at && *at ? at : NULL, is_sampler, out->texture, why, sizeof why);
    }
    if (!fine)
        snprintf(err, err_size, "'%s': %s", spec, why);
    free(copy);
    return fine;
}

bool arg_parse(const char *spec, struct arg *out, char *err, size_t err_size) {
    enum arg_object object = object_of(spec);
    if (object == ARG_PLAIN)
        return arg_parse_plain(spec, out, err, err_size);
    bool fine = texture_arg_parse(strchr(spec, ':') + 1, object, out, err, err_size);
    out->spec = spec;
    return fine;
}
