/* The table of all instructions: the groups of groups.def, sorted by opcode, and a hash table from key to row. Look-ups
 * fill both. */
#include "rows.h"
#include "levels.h"
#include "words.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_ROWS = 16384,
    MOST_SEARCHES = 40, /* searches through the rows of one opcode, before all its rows are put into the hash table */
};

/* The start of the command needs few rows, and a copy of all rows takes 130 pages of memory. So a row is copied when a
 * look-up finds it, and all rows of an opcode when many look-ups have searched it. */
static struct {
    struct isa_row rows[MAX_ROWS];
    uint32_t n;
    uint32_t first[N_OPS + 1]; /* written once, by count() */
    /* index of a row, plus 1; 0 means that the slot is empty. Each opcode has two slots for each of its rows. */
    _Atomic uint16_t slots[2 * MAX_ROWS];
    _Atomic bool complete[N_OPS]; /* the hash table has all rows of the opcode */
    uint8_t searches[N_OPS];
    pthread_mutex_t lock; /* held while rows, slots and searches are written */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t key_hash(unsigned op, const uint8_t types[ISA_MAX_TYPES], uint64_t form) {
    uint64_t h = form * 0x9e3779b97f4a7c15ull;
    h ^= (uint64_t)op | (uint64_t)types[0] << 16 | (uint64_t)types[1] << 24 | (uint64_t)types[2] << 32 |
         (uint64_t)types[3] << 40;
    h *= 0xd6e8feb86659fd93ull;
    return (uint32_t)(h >> 40);
}

static bool has_key(const struct isa_row *r, unsigned op, const uint8_t types[ISA_MAX_TYPES], uint64_t form) {
    return r->op == op && r->form == form && memcmp(r->types, types, sizeof r->types) == 0;
}

/* Returns the row if the hash table has it. Otherwise returns NULL, and the empty slot for the row in `at`. */
static const struct isa_row *probe(unsigned op, const uint8_t types[ISA_MAX_TYPES], uint64_t form, uint32_t *at) {
    const uint32_t begin = 2 * table.first[op], n = 2 * table.first[op + 1] - begin;
    uint16_t slot;
    if (!n)
        return NULL;
    for (uint32_t i = key_hash(op, types, form) % n;; i = i + 1 < n ? i + 1 : 0) {
        *at = begin + i;
        if (!(slot = atomic_load_explicit(&table.slots[*at], memory_order_acquire)))
            return NULL;
        if (has_key(&table.rows[slot - 1], op, types, form))
            return &table.rows[slot - 1];
    }
}

/* Copies a row to its place in the sorted table, unless an earlier look-up has. */
static const struct isa_row *insert(const struct isa_row *row, uint32_t index) {
    uint32_t at = 0;
    const struct isa_row *found = probe(row->op, row->types, row->form, &at);
    assert(!found || found == &table.rows[index]);
    if (found)
        return found;
    table.rows[index] = *row;
    atomic_store_explicit(&table.slots[at], (uint16_t)(index + 1), memory_order_release);
    return &table.rows[index];
}

/* The next row of an opcode: rows of one opcode keep the order of their groups. */
struct place {
    const struct isa_row_group *group;
    uint32_t g, i; /* numbers of the group, and of the row in it */
    uint32_t index;
};

static const struct isa_row *next_row(struct place *p, unsigned op, enum isa_level level) {
    while ((p->group = isa_group(p->g, level))) {
        const uint8_t *ops = p->group->ops, *found = memchr(ops + p->i, (int)op, p->group->n - p->i);
        if (found) {
            p->i = (uint32_t)(found - ops) + 1;
            p->index++;
            return &p->group->rows[p->i - 1];
        }
        p->g++;
        p->i = 0;
    }
    return NULL;
}

/* Puts all rows of the opcode into the hash table. */
static void insert_all(unsigned op) {
    struct place p = {.index = table.first[op]};
    for (const struct isa_row *r; (r = next_row(&p, op, isa_level()));)
        insert(r, p.index - 1);
    atomic_store_explicit(&table.complete[op], true, memory_order_release);
}

static const struct isa_row *search(unsigned op, const uint8_t types[ISA_MAX_TYPES], uint64_t form) {
    struct place p = {.index = table.first[op]};
    if (table.searches[op]++ == MOST_SEARCHES)
        insert_all(op);
    for (const struct isa_row *r; (r = next_row(&p, op, isa_level()));)
        if (has_key(r, op, types, form))
            return insert(r, p.index - 1);
    return NULL;
}

static void count(void) {
    const struct isa_row_group *group;
    for (uint32_t g = 0; (group = isa_group(g, isa_level())); g++)
        for (uint32_t i = 0, end; i < group->n; i = end) {
            for (end = i + 1; end < group->n && group->ops[end] == group->ops[i]; end++)
                ;
            table.first[group->ops[i] + 1] += end - i;
        }
    for (uint32_t op = 0; op < N_OPS; op++)
        table.first[op + 1] += table.first[op];
    table.n = table.first[N_OPS];
    assert(table.n <= MAX_ROWS);
}

static void ready(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, count);
}

static bool is_complete(unsigned op) { return atomic_load_explicit(&table.complete[op], memory_order_acquire); }

static void need_all(unsigned op) {
    if (is_complete(op))
        return;
    pthread_mutex_lock(&table.lock);
    insert_all(op);
    pthread_mutex_unlock(&table.lock);
}

const struct isa_row *isa_rows(uint32_t *n) {
    ready();
    *n = table.n;
    return table.rows;
}

const struct isa_row *isa_all_rows(uint32_t *n) {
    ready();
    for (unsigned op = 0; op < N_OPS; op++)
        need_all(op);
    return isa_rows(n);
}

const struct isa_row *isa_op_rows(enum op_id op, uint32_t *n) {
    ready();
    need_all(op);
    *n = table.first[op + 1] - table.first[op];
    return *n ? &table.rows[table.first[op]] : NULL;
}

const struct isa_row *row_find(unsigned op, const uint8_t types[ISA_MAX_TYPES], uint64_t form) {
    uint32_t at;
    ready();
    const bool all = is_complete(op);
    const struct isa_row *found = probe(op, types, form, &at);
    if (found || all)
        return found;
    pthread_mutex_lock(&table.lock);
    found = search(op, types, form);
    pthread_mutex_unlock(&table.lock);
    return found;
}

const struct isa_row *isa_find_row(enum op_id op, enum type t0, enum type t1, uint64_t form) {
    return row_find(op, (uint8_t[ISA_MAX_TYPES]){(uint8_t)t0, (uint8_t)t1}, form);
}

const struct isa_row *isa_find_row_of(enum op_id op, const uint8_t types[ISA_MAX_TYPES], uint64_t form) {
    return row_find(op, types, form);
}

uint16_t isa_row_index(const struct isa_row *row) { return (uint16_t)(row - table.rows); }

unsigned form_get(uint64_t form, enum category c) {
    return (unsigned)(form >> category_first(c)) & ((1u << category_bits(c)) - 1);
}
uint64_t form_put(enum category c, unsigned value) { return (uint64_t)value << category_first(c); }

/* The order of the modifier categories in a mnemonic, as in the PTX ISA. CAT_SYNC has two places;
 * sync_follows_mode() selects one of them. */
static const enum category order[] = {
    CAT_TO,   CAT_SPACE,     CAT_LEVEL,    CAT_SYNC, CAT_MODE, CAT_SYNC,   CAT_CMP,   CAT_OPN, CAT_NOFTZ,   CAT_GEOM,
    CAT_PART, CAT_MODE2,     CAT_SHIFTAMT, CAT_RND,  CAT_OOB,  CAT_APPROX, CAT_FTZ,   CAT_NAN, CAT_XORSIGN, CAT_ABS,
    CAT_SAT,  CAT_SATFINITE, CAT_RELU,     CAT_CC,   CAT_PO,   CAT_VEC,    CAT_NOINC, CAT_NUM, CAT_SPARSE,  CAT_KIND};
/* The order in mnemonics of matrix instructions, such as wmma.load.a.sync.aligned.row.m16n16k16.f16 and
 * ldmatrix.sync.aligned.m8n8.x4.trans.b16. */
static const enum category order_of_matrices[] = {CAT_OPN, CAT_SPARSE, CAT_MODE, CAT_SYNC, CAT_MODE2,
                                                  CAT_NUM, CAT_OPN,    CAT_KIND, CAT_RND,  CAT_SATFINITE};
enum { PLACE_OF_TRANS = 6 }; /* index of the second CAT_OPN in order_of_matrices */

enum category category_in_order(unsigned i) { return i < sizeof order / sizeof order[0] ? order[i] : N_CATEGORIES; }

/* Returns true if modifiers of this category follow the types. Video instructions, prmt and surface instructions have
 * such modifiers. */
static bool stands_behind(unsigned op, enum category c) {
    if (op >= OP_VABSDIFF && op <= OP_VSUB4)
        return true;
    if (op == OP_SULD || op == OP_SUST || op == OP_SURED)
        return c == CAT_MODE2;
    return op == OP_PRMT;
}

/* Returns true if .sync follows the mode, as in bar.warp.sync and match.any.sync; in shfl.sync.up it precedes the
 * mode. */
static bool sync_follows_mode(unsigned op) { return op == OP_BAR || op == OP_MATCH; }

static size_t append(char *out, size_t size, size_t len, const char *dot, const char *word) {
    int n = snprintf(len < size ? out + len : NULL, len < size ? size - len : 0, "%s%s", dot, word);
    return len + (n > 0 ? (size_t)n : 0);
}

/* Appends the modifiers that all forms of an instruction have, as in cp.async.ca.shared.global and
 * cp.async.mbarrier.arrive.noinc.shared.b64. */
static size_t append_of_copies(const struct isa_row *row, char *out, size_t size, size_t len) {
    static const enum category order_of_copies[] = {CAT_MODE2, CAT_MODE, CAT_NOINC, CAT_SPACE};
    len = append(out, size, len, ".", "async");
    for (size_t i = 0; i < sizeof order_of_copies / sizeof order_of_copies[0]; i++) {
        unsigned value = form_get(row->form, order_of_copies[i]);
        if (value)
            len = append(out, size, len, ".", word_of(order_of_copies[i], value));
    }
    return append(out, size, len, row->kind == K_COPY ? ".global" : "", "");
}

/* Returns the layout modifiers that follow category `behind` in the mnemonic, or "". The row does not name them, since
 * all its forms have them. They follow the shape; for wmma they precede it. */
static const char *layouts_of(const struct isa_row *row, enum category behind) {
    if (row->op == OP_WMMA)
        return behind != CAT_SYNC ? "" : form_get(row->form, CAT_MODE) ? ".row" : ".row.col";
    return behind == CAT_MODE2 && (row->op == OP_MMA || row->op == OP_MMAMIX) ? ".row.col" : "";
}

/* Returns true for .xor.popc and .and.popc, which precede .sync in wmma and follow the types in mma. */
static bool is_of_bits(const struct isa_row *row) { return form_get(row->form, CAT_KIND) >= KIND_XOR; }

static size_t append_popc(const struct isa_row *row, bool wmma, char *out, size_t size, size_t len) {
    if (!is_of_bits(row) || (row->op == OP_WMMA) != wmma)
        return len;
    return append(out, size, len, form_get(row->form, CAT_KIND) == KIND_XOR ? ".xor" : ".and", ".popc");
}

static size_t append_of_matrices(const struct isa_row *row, char *out, size_t size, size_t len) {
    for (size_t i = 0; i < sizeof order_of_matrices / sizeof order_of_matrices[0]; i++) {
        enum category c = order_of_matrices[i];
        unsigned value = form_get(row->form, c);
        if (c == CAT_MODE)
            len = append_popc(row, true, out, size, len);
        if (value && (c != CAT_OPN || (value == OPN_TRANS) == (i == PLACE_OF_TRANS)) &&
            !(c == CAT_KIND && is_of_bits(row)))
            len = append(out, size, len, ".", word_of(c, value));
        if (c == CAT_KIND && value >= KIND_MXF8F6F4 && !is_of_bits(row))
            len = append(out, size, len, ".block_scale", value == KIND_MXF4NVF4 ? ".scale_vec::4X" : "");
        len = append(out, size, len, c == CAT_SYNC ? ".aligned" : "", layouts_of(row, c));
    }
    return len;
}

/* Appends the modifiers of wgmma and tcgen05, as in wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16. The shape
 * stands for all shapes with its K; a row of tcgen05 has no shape. */
static size_t append_of_groups(const struct isa_row *row, bool behind, char *out, size_t size, size_t len) {
    const unsigned operation = form_get(row->form, CAT_MODE2), a = row->types[1];
    if (behind)
        return append(out, size, len, form_get(row->form, CAT_OPN) ? ".and.popc" : "",
                      form_get(row->form, CAT_SATFINITE) ? ".satfinite" : "");
    len = append(out, size, len, ".",
                 operation                       ? word_of(CAT_MODE2, operation)
                 : row->op == OP_WGMMA           ? "fence"
                 : form_get(row->form, CAT_SYNC) ? "wait::ld"
                                                 : "fence::before_thread_sync");
    if (form_get(row->form, CAT_SYNC))
        len = append(out, size, len, ".sync", ".aligned");
    if (operation == MODE2_MMA_ASYNC)
        len = append(out, size, len, ".m64n8k",
                     a == T_B1                   ? "256"
                     : a == T_TF32               ? "8"
                     : a == T_F16 || a == T_BF16 ? "16"
                                                 : "32");
    return len;
}

/* Appends the type of the scales of scaled blocks. */
static size_t append_stype(const struct isa_row *row, char *out, size_t size, size_t len) {
    const unsigned kind = form_get(row->form, CAT_KIND);
    return append(out, size, len, kind >= KIND_MXF8F6F4 && kind <= KIND_MXF4NVF4 ? ".ue8m0" : "", "");
}

static size_t append_modifiers(const struct isa_row *row, bool behind, char *out, size_t size, size_t len) {
    if (row->op == OP_CP)
        return behind ? len : append_of_copies(row, out, size, len);
    if (isa_ops[row->op].takes & TAKES_MATRIX && behind)
        return append_stype(row, out, size, append_popc(row, false, out, size, len));
    if (isa_ops[row->op].takes & TAKES_MATRIX)
        return append_of_matrices(row, out, size, len);
    if (isa_ops[row->op].takes & (TAKES_GROUP | TAKES_TMEM))
        return append_of_groups(row, behind, out, size, len);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        enum category c = order[i];
        if (c == CAT_SYNC && (order[i + 1] == CAT_CMP) != sync_follows_mode(row->op))
            continue;
        unsigned value = form_get(row->form, c);
        if (value && stands_behind(row->op, c) == behind)
            len = append(out, size, len, ".", word_of(c, value));
    }
    return len;
}

int isa_row_name(const struct isa_row *row, char *out, size_t size) {
    size_t len = append(out, size, 0, "", isa_ops[row->op].mnemonic);
    len = append_modifiers(row, false, out, size, len);
    for (int i = 0; i < ISA_MAX_TYPES; i++)
        len = append(out, size, len, "", type_name(row->types[i]));
    return (int)append_modifiers(row, true, out, size, len);
}
