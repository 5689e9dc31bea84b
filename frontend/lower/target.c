/* Compares opcodes and special registers with the rules of targets.def. Rules that depend on operands are checked by
 * form_exists() (lower.h). */
#include "target.h"
#include "ptx/tree.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    const char *mnemonics, *words, *targets;
    unsigned version, lost_target, later_target; /* 0: not a row of LOST or LATER */
};

#define DATA_CENTER "100a 100f 103a 103f 110a 110f"
#define CONSUMER    "120a 120f 121a 121f"
#define BLACKWELL   DATA_CENTER " " CONSUMER
static const struct rule rules[] = {
#define NEEDS(mnemonics, words, targets, version) {mnemonics, words, targets, version, 0, 0},
#define LOST(mnemonics, words, target, version)   {mnemonics, words, "", version, target, 0},
#define LATER(mnemonics, words, target, version)  {mnemonics, words, "", version, 0, target},
#include "targets.def"
#undef LATER
#undef LOST
#undef NEEDS
};
#define N_RULES (sizeof rules / sizeof rules[0])
static_assert(N_RULES <= TARGET_RULES, "TARGET_RULES is too small");
enum { NEWEST = 121 }; /* the largest sm_ number in targets.def */

/* Returns true if `list` has this element. The elements are separated by `separator`. */
static bool has_element(const char *list, char separator, const char *element, size_t len) {
    for (const char *at = list; at; at = strchr(at, separator), at = at ? at + 1 : NULL)
        if (strncmp(at, element, len) == 0 && (at[len] == separator || at[len] == '\0'))
            return true;
    return false;
}

/* A target: its number, and its text without "sm_". sm_101 becomes 110, because it is an older name of sm_110. */
struct target {
    unsigned number;
    char text[16];
};

static struct target parse_target(const char *text) {
    struct target t = {0};
    char *letters;
    if (!text || strncmp(text, "sm_", 3) != 0)
        return t;
    t.number = (unsigned)strtoul(text + 3, &letters, 10);
    t.number = t.number == 101 ? 110 : t.number;
    snprintf(t.text, sizeof t.text, "%u%.2s", t.number, letters);
    return t;
}

/* Returns true if the targets of a rule include `t`. Every rule includes targets newer than NEWEST. */
static bool includes(const char *targets, const struct target *t) {
    const unsigned least = (unsigned)atoi(targets);
    const bool list = strpbrk(targets, "af") != NULL;
    return list ? t->number > NEWEST || has_element(targets, ' ', t->text, strlen(t->text)) : t->number >= least;
}

static bool is_met(const struct rule *r, const struct target *t, unsigned version) {
    if (r->lost_target)
        return t->number < r->lost_target || version < r->version;
    if (r->later_target && t->number >= r->later_target)
        return true;
    return version >= r->version && includes(r->targets, t);
}

void target_find_unmet(struct target_unmet *out, const char *target, unsigned version) {
    const struct target t = parse_target(target);
    out->n = 0;
    for (unsigned i = 0; i < N_RULES && t.number; i++)
        if (!is_met(&rules[i], &t, version))
            out->rule[out->n++] = (uint16_t)i;
}

/* Returns true if the opcode has `words`, of `len` bytes, after a dot. */
static bool has_words(const char *opcode, const char *words, size_t len) {
    for (const char *at = opcode; (at = strchr(at, '.')); at++)
        if (strncmp(at + 1, words, len) == 0 && (at[1 + len] == '.' || at[1 + len] == '\0'))
            return true;
    return false;
}

/* Returns true if one condition of a rule, of `len` bytes, holds for the opcode. */
static bool holds(const char *condition, size_t len, const char *opcode) {
    if (condition[0] == '~')
        return !has_words(opcode, condition + 1, len - 1);
    for (const char *at = condition, *end = condition + len; at < end;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        const size_t n = (size_t)((bar ? bar : end) - at);
        if (has_words(opcode, at, n))
            return true;
        at += n + 1;
    }
    return false;
}

/* Returns true if the rule is about this opcode, whose mnemonic has `len` bytes. */
static bool matches(const struct rule *r, const char *opcode, size_t len) {
    if (r->mnemonics[0] && !has_element(r->mnemonics, '|', opcode, len))
        return false;
    for (const char *at = r->words; *at; at += strspn(at, " ")) {
        const size_t condition = strcspn(at, " ");
        if (!holds(at, condition, opcode))
            return false;
        at += condition;
    }
    return true;
}

/* Returns a number that orders rules by strictness: a later first target is stricter, and a list such as "90a 100a" is
 * stricter than "90". */
static unsigned strictness(const char *targets) {
    return 2 * (unsigned)atoi(targets) + (strpbrk(targets, "af") != NULL);
}

bool target_has(const struct target_unmet *unmet, const char *opcode, struct target_need *need) {
    const size_t mnemonic = strcspn(opcode, ".");
    bool has = true;
    *need = (struct target_need){.targets = ""};
    for (unsigned i = 0; i < unmet->n; i++) {
        const struct rule *r = &rules[unmet->rule[i]];
        if (!matches(r, opcode, mnemonic))
            continue;
        has = false;
        if (r->lost_target) {
            need->lost_target = r->lost_target;
            need->lost_version = r->version;
            continue;
        }
        need->version = r->version > need->version ? r->version : need->version;
        if (strictness(r->targets) >= strictness(need->targets))
            need->targets = r->targets;
    }
    return has;
}

const char *target_of(const struct module *m) {
    for (const struct suffix *s = m->targets; s; s = s->next)
        if (strncmp(s->word->text, "sm_", 3) == 0)
            return s->word->text;
    return NULL;
}

void target_explain(const struct target_need *need, char *out, size_t size) {
    int n = 0;
    if (need->lost_target) {
        snprintf(out, size, "does not exist on .target sm_%u and later from PTX %u.%u on", need->lost_target,
                 need->lost_version / 10, need->lost_version % 10);
        return;
    }
    n += snprintf(out, size, "needs ");
    if (need->targets[0] && !strpbrk(need->targets, "af")) {
        n += snprintf(out + n, size - (size_t)n, ".target sm_%s or later", need->targets);
    } else if (need->targets[0]) {
        n += snprintf(out + n, size - (size_t)n, ".target");
        for (const char *at = need->targets; *at && (size_t)n + 1 < size; at += strspn(at, " ")) {
            const size_t len = strcspn(at, " ");
            n += snprintf(out + n, size - (size_t)n, "%s sm_%.*s", at == need->targets ? "" : ",", (int)len, at);
            at += len;
        }
    }
    if (need->version && (size_t)n + 1 < size)
        snprintf(out + n, size - (size_t)n, "%s.version %u.%u or later", need->targets[0] ? ", and " : "",
                 need->version / 10, need->version % 10);
}
