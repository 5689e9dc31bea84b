/* Symbol tables with scopes, see names.h. */
#include "names.h"
#include <string.h>

enum { N_BUCKETS = 256, RANGE_BUCKETS = 64, FIRST_PRIVATE = 16, MAX_PRIVATE = 4096 };

void names_init(struct names *n, struct arena *a, uint32_t n_words, const struct names *module) {
    *n = (struct names){.arena = a, .n_words = n_words, .module = module};
    n->cap_words = n_words + FIRST_PRIVATE;
    n->of_word = arena_array(a, n->cap_words, sizeof *n->of_word);
    n->buckets = arena_array(a, N_BUCKETS, sizeof *n->buckets);
    n->cap = 8;
    n->levels = arena_array(a, n->cap, sizeof *n->levels);
    n->depth = 1;
}

void names_push(struct names *n) {
    if (n->depth == n->cap) {
        struct symbol **bigger = arena_array(n->arena, (size_t)n->cap * 2, sizeof *bigger);
        memcpy(bigger, n->levels, n->cap * sizeof *bigger);
        n->levels = bigger;
        n->cap *= 2;
    }
    n->levels[n->depth++] = NULL;
}

void names_pop(struct names *n) {
    for (struct symbol *s = n->levels[n->depth - 1]; s; s = s->next)
        n->of_word[s->word->id] = s->outer;
    n->depth--;
    for (struct reg_family *f; (f = n->families) && f->level == n->depth;) {
        n->families = f->older;
        n->buckets[f->hash % N_BUCKETS] = f->next;
    }
    n->family_level = n->families ? n->families->level : 0;
}

/* Binds a word to a new symbol of scope `level`. */
static struct symbol *bind(struct names *n, enum symbol_kind kind, const struct word *word, struct loc loc,
                           uint32_t level) {
    struct symbol *s = arena_alloc(n->arena, sizeof *s);
    s->kind = (uint8_t)kind;
    s->word = word;
    s->loc = loc;
    s->level = level;
    s->outer = n->of_word[word->id];
    s->next = n->levels[level];
    n->levels[level] = s;
    n->of_word[word->id] = s;
    return s;
}

struct symbol *names_declare(struct names *n, struct diags *d, enum symbol_kind kind, const struct word *word,
                             struct loc loc) {
    uint32_t level = n->depth - 1;
    struct symbol *old = n->of_word[word->id];
    if (old && old->level == level && old->kind != SYM_SPECIAL) {
        diag_error(d, loc, "'%s' is declared twice in this scope", word->text);
        diag_note(d, old->loc, "'%s' is first declared here", word->text);
        return NULL;
    }
    return bind(n, kind, word, loc, level);
}

static uint32_t hash_text(const char *text, uint32_t len) {
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static unsigned vector_components(const struct variable *v) {
    if (!v->vector)
        return 1;
    return v->vector->text[2] == '8' ? 8 : v->vector->text[2] == '4' ? 4 : 2;
}

void names_declare_regs(struct names *n, struct diags *d, const struct variable *v, enum type type) {
    unsigned components = vector_components(v);
    uint32_t level = n->depth - 1;
    if (!v->range) {
        struct symbol *s = names_declare(n, d, components > 1 ? SYM_VECTOR : SYM_REG, v->name, v->loc);
        if (!s)
            return;
        s->type = (uint8_t)type;
        s->n = (uint8_t)components;
        s->variable = v;
        s->index = n->make_regs(n->ctx, v, type, components, v->name->text, v->name->len);
        if (components == 1)
            return;
    }
    uint32_t hash = hash_text(v->name->text, v->name->len);
    for (const struct reg_family *f = n->buckets[hash % N_BUCKETS]; f && v->range; f = f->next)
        if (f->level == level && f->variable->range && f->hash == hash && f->variable->name == v->name) {
            diag_error(d, v->loc, "'%s<%u>' is declared twice in this scope", v->name->text, v->range);
            diag_note(d, f->variable->loc, "'%s<%u>' is first declared here", v->name->text, f->variable->range);
            return;
        }
    struct reg_family *f = arena_alloc(n->arena, sizeof *f);
    *f = (struct reg_family){.variable = v, .type = type, .level = level, .n = (uint8_t)components, .hash = hash};
    f->older = n->families;
    f->next = n->buckets[hash % N_BUCKETS];
    n->buckets[hash % N_BUCKETS] = n->families = f;
    n->family_level = level;
}

/* Returns the component that ends a name, such as ".x", or -1. */
static int component_of(const char *text, uint32_t len) {
    static const char letters[] = "xyzwrgba";
    const char *at;
    if (len < 3 || text[len - 2] != '.' || !(at = strchr(letters, text[len - 1])))
        return -1;
    return (int)(at - letters) % 4;
}

/* Returns the newest family whose name is `text`. `range` selects the kind: a declaration such as %r<10> if true, a
 * declaration of one vector if false. */
static struct reg_family *find_family(const struct names *n, const char *text, uint32_t len, bool range) {
    uint32_t hash = hash_text(text, len);
    for (struct reg_family *f = n->buckets[hash % N_BUCKETS]; f; f = f->next)
        if (f->hash == hash && f->variable->name->len == len && (f->variable->range != 0) == range &&
            memcmp(f->variable->name->text, text, len) == 0)
            return f;
    return NULL;
}

/* Tries every split of "%r12" into prefix and number. Returns the innermost family that has a register with this prefix
 * and number. */
static struct reg_family *find_member(const struct names *n, const char *text, uint32_t len, uint32_t *number) {
    struct reg_family *best = NULL;
    uint64_t value = 0, scale = 1;
    for (uint32_t at = len; at > 1 && text[at - 1] >= '0' && text[at - 1] <= '9' && len - at < 10; at--, scale *= 10) {
        value += (uint64_t)(text[at - 1] - '0') * scale;
        if (text[at - 1] == '0' && at != len)
            continue; /* no leading zeros */
        struct reg_family *f = find_family(n, text, at - 1, true);
        if (f && value < f->variable->range && (!best || f->level > best->level)) {
            best = f;
            *number = (uint32_t)value;
        }
    }
    return best;
}

/* A register (or vector register) that was created for one number of a range, and its first virtual register.
 * make_member() finds it again, because other components of the vector may be named later. */
struct created_member {
    uint32_t number, first;
    struct created_member *next;
};

static uint32_t make_member(struct names *n, struct reg_family *f, uint32_t number, const char *name, uint32_t len) {
    if (f->n == 1 && !n->n_private)
        return n->make_regs(n->ctx, f->variable, f->type, 1, name, len);
    if (!f->members)
        f->members = arena_array(n->arena, RANGE_BUCKETS, sizeof *f->members);
    struct created_member **bucket = &f->members[number % RANGE_BUCKETS];
    for (struct created_member *m = *bucket; m; m = m->next)
        if (m->number == number)
            return m->first;
    struct created_member *m = arena_alloc(n->arena, sizeof *m);
    *m = (struct created_member){number, n->make_regs(n->ctx, f->variable, f->type, f->n, name, len), *bucket};
    *bucket = m;
    return m->first;
}

/* Finds the register `word` in the families of scopes deeper than `above` (with `any`: of all scopes), and binds the
 * word to it. */
static struct symbol *find_in_families(struct names *n, const struct word *word, uint32_t above, bool any) {
    uint32_t len = word->len, number = 0;
    int component = component_of(word->text, len);
    struct reg_family *f = find_member(n, word->text, len, &number);
    if (!f && component >= 0) {
        len -= 2;
        f = find_member(n, word->text, len, &number);
        struct reg_family *single = find_family(n, word->text, len, false);
        if (single && (!f || single->level > f->level))
            f = single;
    } else {
        component = -1;
    }
    if (!f || (!any && f->level <= above) || (component >= 0 && component >= f->n))
        return NULL;
    uint32_t first =
        f->variable->range ? make_member(n, f, number, word->text, len) : n->of_word[f->variable->name->id]->index;
    struct symbol *s = bind(n, f->n > 1 && component < 0 ? SYM_VECTOR : SYM_REG, word, f->variable->loc, f->level);
    s->type = (uint8_t)f->type;
    s->n = f->n;
    s->variable = f->variable;
    s->index = first + (component > 0 ? (uint32_t)component : 0);
    return s;
}

static const struct {
    const char *name;
    enum special id;
} special_names[] = {
#define X(id, name) {name, SPECIAL_##id},
    ISA_SPECIALS(X)
#undef X
};

/* Special vector registers of four components; the last component is zero (PTX ISA, 10). */
static const char *const special_vectors[] = {"%tid",       "%ntid",       "%ctaid",         "%nctaid",
                                              "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};

static bool is_special_vector(const char *text, size_t len) {
    for (size_t i = 0; i < sizeof special_vectors / sizeof *special_vectors; i++)
        if (strlen(special_vectors[i]) == len && memcmp(special_vectors[i], text, len) == 0)
            return true;
    return false;
}

/* Returns the special register for a component such as %tid.x (also written %tid.r). The component w is always zero, so
 * it gets the special register for zero, as most %envreg do. */
static enum special find_component(const struct word *word) {
    static const char letters[2][5] = {"xyzw", "rgba"};
    if (word->len < 3 || word->text[word->len - 2] != '.' || !is_special_vector(word->text, word->len - 2))
        return N_SPECIALS;
    char letter = word->text[word->len - 1];
    const char *at = strchr(letters[0], letter) ? strchr(letters[0], letter) : strchr(letters[1], letter);
    if (!at || !letter)
        return N_SPECIALS;
    size_t component = (size_t)(strchr(letters[0], letter) ? at - letters[0] : at - letters[1]);
    if (component == 3)
        return SPECIAL_ENVREG;
    for (size_t i = 0; i < sizeof special_names / sizeof *special_names; i++)
        if (strncmp(special_names[i].name, word->text, word->len - 1) == 0 &&
            special_names[i].name[word->len - 1] == letters[0][component])
            return special_names[i].id;
    return N_SPECIALS;
}

/* Returns the special register of this name, or N_SPECIALS. %envreg and %pm contain a number. */
static enum special find_special(const struct word *word) {
    for (size_t i = 0; i < sizeof special_names / sizeof *special_names; i++)
        if (strcmp(word->text, special_names[i].name) == 0 && special_names[i].id != SPECIAL_ENVREG &&
            special_names[i].id != SPECIAL_PM)
            return special_names[i].id;
    unsigned number;
    char rest;
    if (sscanf(word->text, "%%envreg%u%c", &number, &rest) == 1 && number < 32)
        return SPECIAL_ENVREG;
    if (sscanf(word->text, "%%pm%u%c", &number, &rest) == 1 && number < 8)
        return SPECIAL_PM;
    if (sscanf(word->text, "%%pm%u_64%c", &number, &rest) == 1 && number < 8)
        return SPECIAL_PM;
    if (strncmp(word->text, "%reserved_smem_offset_", 22) == 0)
        return SPECIAL_RESERVED_SMEM;
    return find_component(word);
}

struct symbol *names_find(struct names *n, const struct word *word) {
    struct symbol *s = n->of_word[word->id];
    if (s && s->level >= n->family_level)
        return s;
    if (!s && n->module && word->id < n->module->n_words && (s = n->module->of_word[word->id]) && n->family_level == 0)
        return s;
    if (word->text[0] == '%' || n->family_level) {
        struct symbol *member = find_in_families(n, word, s ? s->level : 0, !s);
        if (member)
            return member;
    }
    if (s || word->text[0] != '%')
        return s;
    enum special id = find_special(word);
    if (id == N_SPECIALS)
        return NULL;
    s = bind(n, SYM_SPECIAL, word, (struct loc){0, 0}, 0);
    s->index = id;
    s->type = T_U32;
    return s;
}

/* Returns a new word that is not in the module. */
static const struct word *private_word(struct names *n, const char *text, uint32_t len) {
    if (n->n_private == MAX_PRIVATE)
        return NULL;
    if (n->n_words + n->n_private == n->cap_words) {
        struct symbol **more = arena_array(n->arena, (size_t)n->n_words + MAX_PRIVATE, sizeof *more);
        memcpy(more, n->of_word, n->cap_words * sizeof *more);
        n->of_word = more;
        n->cap_words = n->n_words + MAX_PRIVATE;
    }
    struct word *w = arena_alloc(n->arena, sizeof *w);
    *w = (struct word){arena_strndup(n->arena, text, len), len, n->n_words + n->n_private++};
    return w;
}

const struct word *names_word(struct names *n, const char *text, uint32_t len) {
    uint32_t number;
    for (uint32_t level = n->depth; level-- > 0;)
        for (const struct symbol *s = n->levels[level]; s; s = s->next)
            if (s->kind == SYM_REG && s->word->len == len && memcmp(s->word->text, text, len) == 0)
                return s->word;
    return find_member(n, text, len, &number) ? private_word(n, text, len) : NULL;
}

const struct word *names_special_component(struct names *n, const struct word *word, unsigned i) {
    char text[32];
    if (word->len + 3 > sizeof text || !is_special_vector(word->text, word->len))
        return NULL;
    snprintf(text, sizeof text, "%s.%c", word->text, "xyzw"[i]);
    return private_word(n, text, word->len + 2);
}

const char *names_suggest(const struct names *n, const char *word, unsigned kinds) {
    enum { MAX = 20000 };
    const char **list = arena_array(n->arena, MAX, sizeof *list);
    int count = 0;
    for (const struct names *in = n; in; in = in->module)
        for (uint32_t level = 0; level < in->depth; level++)
            for (const struct symbol *s = in->levels[level]; s && count < MAX; s = s->next)
                if (kinds & 1u << s->kind)
                    list[count++] = s->word->text;
    for (const struct reg_family *f = n->families; f && count < MAX && (kinds & 1u << SYM_REG); f = f->older)
        list[count++] = f->variable->name->text;
    for (size_t i = 0; i < sizeof special_names / sizeof *special_names && (kinds & 1u << SYM_SPECIAL) && count < MAX;
         i++)
        if (special_names[i].name[0] == '%')
            list[count++] = special_names[i].name;
    return diag_suggest(word, list, count);
}

const struct reg_family *names_near_family(const struct names *n, const struct word *word) {
    uint32_t len = word->len;
    while (len > 1 && word->text[len - 1] >= '0' && word->text[len - 1] <= '9')
        len--;
    return len < word->len ? find_family(n, word->text, len, true) : NULL;
}

const char *symbol_kind_name(const struct symbol *s) {
    static const char *const what[] = {"a register", "a vector register", "a variable",        "a label",
                                       "a function", "a call prototype",  "a list of targets", "a special register"};
    return what[s->kind];
}
