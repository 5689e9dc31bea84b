/* Interning of words, and the directives with tokens of their own. */
#include "ptx/parse.h"
#include "ptx/parse.tab.h"
#include <string.h>

/* Every dotted word that has its own token. Any other dotted word has the token DOTWORD. */
static const struct {
    const char *text;
    int token;
} known[] = {
    {".version", VERSION},
    {".target", TARGET},
    {".address_size", ADDRESS_SIZE},
    {".entry", ENTRY},
    {".func", FUNC},
    {".alias", ALIAS},
    {".extern", LINKAGE},
    {".visible", LINKAGE},
    {".weak", LINKAGE},
    {".common", LINKAGE},
    {".hidden", HIDDEN},
    {".reg", SPACE},
    {".sreg", SPACE},
    {".param", SPACE},
    {".global", SPACE},
    {".shared", SPACE},
    {".local", SPACE},
    {".const", SPACE},
    {".tex", SPACE},
    {".align", ALIGN},
    {".ptr", PTR},
    {".attribute", ATTRIBUTE},
    {".pragma", PRAGMA},
    {".loc", LOC},
    {".file", FILE_},
    {".section", SECTION},
    {".callprototype", CALLPROTOTYPE},
    {".branchtargets", BRANCHTARGETS},
    {".calltargets", CALLTARGETS},
    {".maxntid", TUNING},
    {".minnctapersm", TUNING},
    {".maxnctapersm", TUNING},
    {".maxnreg", TUNING},
    {".reqntid", TUNING},
    {".noreturn", TUNING},
    {".explicitcluster", TUNING},
    {".reqnctapercluster", TUNING},
    {".maxclusterrank", TUNING},
    {".blocksareclusters", TUNING},
    {".abi_preserve", TUNING},
    {".abi_preserve_control", TUNING},
    {".v2", VECTOR},
    {".v4", VECTOR},
    {".v8", VECTOR},
    {".b8", TYPE},
    {".b16", TYPE},
    {".b32", TYPE},
    {".b64", TYPE},
    {".b128", TYPE},
    {".u8", TYPE},
    {".u16", TYPE},
    {".u32", TYPE},
    {".u64", TYPE},
    {".s8", TYPE},
    {".s16", TYPE},
    {".s32", TYPE},
    {".s64", TYPE},
    {".f16", TYPE},
    {".f16x2", TYPE},
    {".bf16", TYPE},
    {".bf16x2", TYPE},
    {".tf32", TYPE},
    {".f32", TYPE},
    {".f32x2", TYPE},
    {".f64", TYPE},
    {".pred", TYPE},
    {".texref", TYPE},
    {".samplerref", TYPE},
    {".surfref", TYPE},
};
enum { N_KNOWN = sizeof known / sizeof *known, FIRST_SLOTS = 1024 };

/* Hashes eight bytes per step. Each step multiplies by an odd constant whose bits look random. */
static uint32_t hash(const char *text, size_t len) {
    const uint64_t k = 0x9e3779b97f4a7c15u;
    uint64_t h = len * k, v;
    for (; len >= 8; text += 8, len -= 8) {
        memcpy(&v, text, 8);
        h = (h ^ v) * k;
        h ^= h >> 32;
    }
    v = 0;
    if (len >= 4) { /* combines the first four and the last four bytes, which may overlap */
        uint32_t low, high;
        memcpy(&low, text, 4);
        memcpy(&high, text + (len - 4), 4);
        v = low | (uint64_t)high << 32;
    } else if (len) {
        v = (uint64_t)(unsigned char)text[0] | (uint64_t)(unsigned char)text[len / 2] << 8 |
            (uint64_t)(unsigned char)text[len - 1] << 16;
    }
    h = (h ^ v) * k;
    return (uint32_t)(h >> 32);
}

static void grow(struct parser *ps) {
    struct words *w = &ps->words;
    uint32_t n = w->n_slots * 2;
    struct slot *slots = arena_array(ps->arena, n, sizeof *slots);
    for (uint32_t i = 0; i < w->n_slots; i++) {
        if (!w->slots[i].entry)
            continue;
        uint32_t at = w->slots[i].hash & (n - 1);
        while (slots[at].entry)
            at = (at + 1) & (n - 1);
        slots[at] = w->slots[i];
    }
    w->slots = slots;
    w->n_slots = n;
}

static struct entry *add(struct parser *ps, struct slot *slot, uint32_t h, const char *text, size_t len) {
    struct entry *e = arena_alloc(ps->arena, sizeof *e);
    e->word = (struct word){arena_strndup(ps->arena, text, len), (uint32_t)len, ps->words.n++};
    bool bank = len > 7 && memcmp(text, ".const[", 7) == 0; /* in PTX before 2.2, .const[2] is constant bank 2 */
    e->token = bank ? SPACE : *text == '.' ? DOTWORD : WORD;
    *slot = (struct slot){h, e};
    if (ps->words.n * 2 > ps->words.n_slots)
        grow(ps);
    return e;
}

const struct entry *words_intern(struct parser *ps, const char *text, size_t len) {
    struct words *w = &ps->words;
    uint32_t h = hash(text, len), at = h & (w->n_slots - 1);
    for (; w->slots[at].entry; at = (at + 1) & (w->n_slots - 1)) {
        struct entry *e = w->slots[at].entry;
        if (w->slots[at].hash == h && e->word.len == len && memcmp(e->word.text, text, len) == 0)
            return e;
    }
    return add(ps, &w->slots[at], h, text, len);
}

void words_init(struct parser *ps) {
    ps->words.n_slots = FIRST_SLOTS;
    ps->words.slots = arena_array(ps->arena, FIRST_SLOTS, sizeof *ps->words.slots);
    for (int i = 0; i < N_KNOWN; i++) {
        struct entry *e = (struct entry *)words_intern(ps, known[i].text, strlen(known[i].text));
        e->token = known[i].token;
    }
    ps->warp_sz = &words_intern(ps, "WARP_SZ", 7)->word;
}

int words_known(const int *tokens, int n_tokens, const char **out, int cap) {
    int n = 0;
    for (int i = 0; i < N_KNOWN && n < cap; i++)
        for (int j = 0; j < n_tokens; j++)
            if (known[i].token == tokens[j]) {
                out[n++] = known[i].text;
                break;
            }
    return n;
}
