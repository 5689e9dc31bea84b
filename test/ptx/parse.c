#include "text.h"

static const struct variable *first_variable(const struct parsed *p) { return p->module->statements->variable; }
static const struct operand *operands(const struct parsed *p) { return body_of(p)->insn.operands; }
static const struct function *first_function(const struct parsed *p) { return p->module->statements->function; }

START_TEST(header) {
    struct parsed p = parse_good(".version 10.12\n.target sm_90a, texmode_independent, debug\n.address_size 64");
    ck_assert_int_eq(p.module->version_major, 10);
    ck_assert_int_eq(p.module->version_minor, 12);
    ck_assert_int_eq(p.module->address_size, 64);
    const struct suffix *t = p.module->targets;
    ck_assert_str_eq(t->word->text, "sm_90a");
    ck_assert_str_eq(t->next->word->text, "texmode_independent");
    ck_assert_str_eq(t->next->next->word->text, "debug");
    ck_assert_ptr_null(t->next->next->next);
    parsed_free(&p);
}
END_TEST

START_TEST(address_size_is_0_when_not_given) {
    struct parsed p = parse_good(".version 1.4\n.target sm_10");
    ck_assert_int_eq(p.module->address_size, 0);
    parsed_free(&p);
}
END_TEST

START_TEST(variables_share_their_specifiers) {
    struct parsed p = parse_items(".visible .shared .align 8 .v2 .f32 a, b, c[3][4];");
    const struct variable *a = first_variable(&p), *b = a->next, *c = b->next;
    for (const struct variable *v = a; v; v = v->next) {
        ck_assert_str_eq(v->space->text, ".shared");
        ck_assert_str_eq(v->type->text, ".f32");
        ck_assert_str_eq(v->vector->text, ".v2");
        ck_assert_str_eq(v->linkage->text, ".visible");
        ck_assert_uint_eq(v->align, 8);
    }
    ck_assert_uint_eq(a->range, 0);
    ck_assert(!b->is_array && c->is_array);
    ck_assert_int_eq(c->n_dims, 2);
    ck_assert_uint_eq(c->dims[0], 3);
    ck_assert_uint_eq(c->dims[1], 4);
    ck_assert_ptr_null(c->next);
    parsed_free(&p);
}
END_TEST

/* Outside of .reg, name<n> declares n variables. In .reg, it stays one declaration. */
START_TEST(ranges_declare_variables) {
    static const char *const names[] = {"a", "%b0", "%b1", "%b2", "c0", "d"};
    struct parsed p = parse_items(".visible .shared .align 8 .f32 a, %b<3>, c<1>, d;");
    const struct variable *v = first_variable(&p);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++, v = v->next) {
        ck_assert_ptr_nonnull(v);
        ck_assert_str_eq(v->name->text, names[i]);
        ck_assert_str_eq(v->linkage->text, ".visible");
        ck_assert_uint_eq(v->align, 8);
        ck_assert_uint_eq(v->range, 0);
    }
    ck_assert_ptr_null(v);
    parsed_free(&p);
    p = parse_items(".func f() { .reg .f32 %b<3>; }");
    const struct variable *b = p.module->statements->function->body->variable;
    ck_assert_uint_eq(b->range, 3);
    ck_assert_ptr_null(b->next);
    parsed_free(&p);
}
END_TEST

START_TEST(specifiers_in_any_order) {
    struct parsed p = parse_items(".align 4 .attribute(.managed) .global .u32 x;");
    ck_assert_str_eq(first_variable(&p)->space->text, ".global");
    ck_assert_str_eq(first_variable(&p)->attribute->text, ".managed");
    ck_assert_uint_eq(first_variable(&p)->align, 4);
    parsed_free(&p);
}
END_TEST

START_TEST(unsized_array) {
    struct parsed p = parse_items(".extern .shared .b8 x[];");
    ck_assert(first_variable(&p)->is_array);
    ck_assert_int_eq(first_variable(&p)->n_dims, 1);
    ck_assert_uint_eq(first_variable(&p)->dims[0], 0);
    parsed_free(&p);
}
END_TEST

START_TEST(constant_banks_of_old_versions) {
    struct parsed p = parse_items(".const[2] .b32 x;");
    ck_assert_str_eq(first_variable(&p)->space->text, ".const[2]");
    parsed_free(&p);
}
END_TEST

START_TEST(nested_initialisers) {
    struct parsed p = parse_items(".global .b32 x[][2] = {{1, -2}, {}, {x+4}};");
    const struct init *i = first_variable(&p)->init;
    ck_assert_int_eq(i->kind, INIT_LIST);
    ck_assert_int_eq(i->list->kind, INIT_LIST);
    ck_assert_int_eq((int64_t)i->list->list->next->value->integer, -2);
    ck_assert_ptr_null(i->list->next->list);
    ck_assert_int_eq(i->list->next->next->list->value->kind, OPD_SUM);
    ck_assert_ptr_null(i->list->next->next->next);
    parsed_free(&p);
}
END_TEST

START_TEST(generic_and_masked_addresses) {
    struct parsed p = parse_items(".global .u64 x[] = {generic(a), generic(b)-8, 0xFF00(generic(c)+4), 0xFF(d)};");
    const struct init *i = first_variable(&p)->init->list;
    ck_assert_str_eq(i->address_operator->text, "generic");
    ck_assert_str_eq(i->value->name->text, "a");
    i = i->next;
    ck_assert_str_eq(i->value->sub->name->text, "b");
    ck_assert_int_eq((int64_t)i->value->integer, -8);
    i = i->next;
    ck_assert_uint_eq(i->mask, 0xff00);
    ck_assert_str_eq(i->address_operator->text, "generic");
    ck_assert_uint_eq(i->value->integer, 4);
    i = i->next;
    ck_assert_uint_eq(i->mask, 0xff);
    ck_assert_ptr_null(i->address_operator);
    ck_assert_str_eq(i->value->name->text, "d");
    parsed_free(&p);
}
END_TEST

START_TEST(sampler_fields) {
    struct parsed p = parse_items(".global .samplerref s = {addr_mode_0 = wrap, force_unnormalized_coords = 1};");
    const struct init *i = first_variable(&p)->init->list;
    ck_assert_str_eq(i->field->text, "addr_mode_0");
    ck_assert_str_eq(i->value->name->text, "wrap");
    ck_assert_uint_eq(i->next->value->integer, 1);
    parsed_free(&p);
}
END_TEST

START_TEST(entry_with_parameters_and_attributes) {
    struct parsed p =
        parse_items(".visible .entry k (.param .u64 .ptr .global .align 16 a, .param .align 4 .b8 b[12],\n"
                    ".param .u64 .ptr .align 2 c, .hidden .param .u64 .ptr .generic d)\n"
                    ".maxntid 256, 1, 2 .minnctapersm 3 .pragma \"nounroll\"; { ret; }");
    const struct function *f = first_function(&p);
    ck_assert(f->is_entry && f->has_body && !f->is_prototype);
    ck_assert_str_eq(f->name->text, "k");
    ck_assert_str_eq(f->linkage->text, ".visible");
    const struct variable *a = f->params, *b = a->next, *c = b->next, *d = c->next;
    ck_assert(a->is_ptr && c->is_ptr && d->is_ptr && !b->is_ptr);
    ck_assert_str_eq(a->space->text, ".param");
    ck_assert_str_eq(a->ptr_space->text, ".global");
    ck_assert_uint_eq(a->ptr_align, 16);
    ck_assert_uint_eq(a->align, 0);
    ck_assert_uint_eq(b->align, 4);
    ck_assert_uint_eq(b->dims[0], 12);
    ck_assert_ptr_null(c->ptr_space);
    ck_assert_uint_eq(c->ptr_align, 2);
    ck_assert_str_eq(d->ptr_space->text, ".generic");
    ck_assert_str_eq(d->linkage->text, ".hidden");
    ck_assert_ptr_null(c->linkage);
    const struct attribute *t = f->attributes;
    ck_assert_str_eq(t->name->text, ".maxntid");
    ck_assert_int_eq(t->n, 3);
    ck_assert_uint_eq(t->values->next->next->integer, 2);
    ck_assert_str_eq(t->next->name->text, ".minnctapersm");
    ck_assert_str_eq(t->next->next->values->name->text, "nounroll");
    parsed_free(&p);
}
END_TEST

START_TEST(functions_with_results) {
    struct parsed p = parse_items(".func (.reg .u32 r) f (.reg .u32 n, .param .b32 _) .noreturn;\n.func () g { ret; }");
    const struct function *f = first_function(&p), *g = p.module->statements->next->function;
    ck_assert(!f->is_entry && !f->has_body && g->has_body);
    ck_assert_str_eq(f->results->name->text, "r");
    ck_assert_str_eq(f->params->space->text, ".reg");
    ck_assert_ptr_null(f->params->next->name);
    ck_assert_str_eq(f->attributes->name->text, ".noreturn");
    ck_assert_ptr_null(g->results);
    ck_assert_ptr_null(g->params);
    parsed_free(&p);
}
END_TEST

START_TEST(function_prefers_the_body) {
    struct parsed p = parse_items(".func f(); .entry f() { ret; } .func f() { ret; } .entry e(); .entry e() { ret; }");
    ck_assert(ptx_function(p.module, "f", false)->has_body);
    ck_assert(ptx_function(p.module, "f", true)->is_entry);
    ck_assert(ptx_function(p.module, "e", true)->has_body);
    ck_assert_ptr_null(ptx_function(p.module, "e", false));
    ck_assert_str_eq(ptx_entry(p.module, 0)->name->text, "f");
    ck_assert_str_eq(ptx_entry(p.module, 1)->name->text, "e");
    ck_assert_ptr_null(ptx_entry(p.module, 2));
    parsed_free(&p);
}
END_TEST

START_TEST(guards) {
    struct parsed p = parse_body("@%p1 bra L;\n@!q exit;\nret;");
    const struct statement *s = body_of(&p);
    ck_assert_str_eq(s->insn.guard->text, "%p1");
    ck_assert(!s->insn.guard_not);
    ck_assert_str_eq(s->next->insn.guard->text, "q");
    ck_assert(s->next->insn.guard_not);
    ck_assert_ptr_null(s->next->next->insn.guard);
    ck_assert_int_eq(s->next->next->insn.n_operands, 0);
    parsed_free(&p);
}
END_TEST

static const struct {
    const char *text;
    int64_t offset;
} addresses[] = {{"[%r1]", 0},   {"[%r1+4]", 4},         {"[%r1-4]", -4},      {"[%r1+-4]", -4},
                 {"[x + 8]", 8}, {"[%r1 + (2 * 4)]", 8}, {"[%r1 + 4 + 4]", 8}, {"[x+0x10]", 16},
                 {"[%r1-0]", 0}, {"[%r1+WARP_SZ]", 32},  {"[%r1 - -4]", 4}};

START_TEST(addresses_with_offset) {
    char text[64];
    snprintf(text, sizeof text, "ld.u32 %%r2, %s;", addresses[_i].text);
    struct parsed p = parse_body(text);
    const struct operand *o = operands(&p)->next;
    ck_assert_int_eq(o->kind, OPD_ADDRESS);
    ck_assert_int_eq(o->n, 1);
    ck_assert_int_eq(o->sub->kind, OPD_NAME);
    ck_assert_int_eq((int64_t)o->integer, addresses[_i].offset);
    parsed_free(&p);
}
END_TEST

START_TEST(absolute_address) {
    struct parsed p = parse_body("ld.u32 %r2, [0x1000 + 16];");
    ck_assert_int_eq(operands(&p)->next->sub->kind, OPD_INT);
    ck_assert_uint_eq(operands(&p)->next->sub->integer, 4112);
    parsed_free(&p);
}
END_TEST

START_TEST(texture_address) {
    struct parsed p = parse_body("tex.2d.v4.f32.s32 {%f1, _, _, _}, [t, s, {%r1, %r2}];");
    const struct operand *v = operands(&p), *a = v->next;
    ck_assert_int_eq(v->kind, OPD_VECTOR);
    ck_assert_int_eq(v->n, 4);
    ck_assert_int_eq(v->sub->next->kind, OPD_SINK);
    ck_assert_int_eq(a->n, 3);
    ck_assert_str_eq(a->sub->next->name->text, "s");
    ck_assert_int_eq(a->sub->next->next->kind, OPD_VECTOR);
    ck_assert_int_eq(a->sub->next->next->n, 2);
    parsed_free(&p);
}
END_TEST

START_TEST(texture_address_keeps_its_tail_behind_an_offset) {
    struct parsed p = parse_body("cp [%r1+4, {%r2}];");
    const struct operand *a = operands(&p);
    ck_assert_int_eq(a->n, 2);
    ck_assert_uint_eq(a->integer, 4);
    ck_assert_int_eq(a->sub->kind, OPD_NAME);
    ck_assert_int_eq(a->sub->next->kind, OPD_VECTOR);
    parsed_free(&p);
}
END_TEST

START_TEST(predicate_operands) {
    struct parsed p = parse_body("setp.lt.and.s32 %p|_, %r1, -%r2, !%q;");
    const struct operand *o = operands(&p);
    ck_assert_int_eq(o->kind, OPD_PAIR);
    ck_assert_str_eq(o->sub->name->text, "%p");
    ck_assert_int_eq(o->sub->next->kind, OPD_SINK);
    o = o->next->next;
    ck_assert_int_eq(o->kind, OPD_NEG);
    ck_assert_str_eq(o->sub->name->text, "%r2");
    o = o->next;
    ck_assert_int_eq(o->kind, OPD_NOT);
    ck_assert_str_eq(o->sub->name->text, "%q");
    ck_assert_ptr_null(o->next);
    parsed_free(&p);
}
END_TEST

START_TEST(symbol_sums_and_indices) {
    struct parsed p = parse_body("mov.u64 %r1, x-4;\nmov.u32 %r1, x[%r2 + 1];\nmov.u32 %r1, x[(3)];");
    const struct operand *o = operands(&p)->next;
    ck_assert_int_eq(o->kind, OPD_SUM);
    ck_assert_int_eq((int64_t)o->integer, -4);
    o = body_of(&p)->next->insn.operands->next;
    ck_assert_int_eq(o->kind, OPD_INDEX);
    ck_assert_str_eq(o->sub->name->text, "x");
    ck_assert_int_eq(o->sub->next->kind, OPD_SUM);
    o = body_of(&p)->next->next->insn.operands->next;
    ck_assert_int_eq(o->sub->next->kind, OPD_INT);
    parsed_free(&p);
}
END_TEST

START_TEST(parentheses_around_constants_vanish_except_in_calls) {
    struct parsed p = parse_body("add %r1, (2), {(3), (4)};\ncall f, (2);\ncallx (2);");
    const struct operand *o = operands(&p)->next;
    ck_assert_int_eq(o->kind, OPD_INT);
    ck_assert_int_eq(o->next->sub->kind, OPD_INT);
    ck_assert_uint_eq(o->next->sub->next->integer, 4);
    o = body_of(&p)->next->insn.operands->next;
    ck_assert_int_eq(o->kind, OPD_PARENS);
    ck_assert_int_eq(o->n, 1);
    ck_assert_int_eq(body_of(&p)->next->next->insn.operands->kind, OPD_INT);
    parsed_free(&p);
}
END_TEST

/* The operand kinds of each form of call. P is a parenthesised list with its length; N is a name. */
static const struct {
    const char *text, *kinds;
} calls[] = {
    {"call f;", "N"},
    {"call.uni f, (a, b);", "NP2"},
    {"call f, ();", "NP0"},
    {"call (r), f, (a,b);", "P1NP2"},
    {"call (r), %rd1, (a), proto;", "P1NP1N"},
    {"call.uni (retval0),\nvprintf,\n(\nparam0,\nparam1\n);", "P1NP2"},
    {"call (r), f, (1, 0f00000000, _);", "P1NP3"},
};

START_TEST(calls_are_operand_lists) {
    struct parsed p = parse_body(calls[_i].text);
    char kinds[32] = "";
    for (const struct operand *o = operands(&p); o; o = o->next)
        if (o->kind == OPD_PARENS)
            sprintf(kinds + strlen(kinds), "P%d", o->n);
        else
            strcat(kinds, o->kind == OPD_NAME ? "N" : "?");
    ck_assert_str_eq(kinds, calls[_i].kinds);
    parsed_free(&p);
}
END_TEST

START_TEST(prototypes) {
    struct parsed p = parse_body("a: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]);\n"
                                 "b : .callprototype ()_ () .noreturn;\nc: .callprototype _;");
    const struct statement *s = body_of(&p);
    ck_assert_int_eq(s->kind, ST_PROTOTYPE);
    ck_assert_str_eq(s->proto.label->text, "a");
    const struct function *f = s->proto.proto;
    ck_assert(f->is_prototype);
    ck_assert_ptr_null(f->name);
    ck_assert_ptr_null(f->results->name);
    ck_assert_uint_eq(f->params->next->dims[0], 16);
    ck_assert_str_eq(s->next->proto.proto->attributes->name->text, ".noreturn");
    ck_assert_ptr_null(s->next->next->proto.proto->params);
    parsed_free(&p);
}
END_TEST

START_TEST(target_lists) {
    struct parsed p = parse_body("t: .branchtargets L1, L2, L3;\nu: .calltargets f;");
    const struct statement *s = body_of(&p);
    ck_assert_int_eq(s->kind, ST_TARGETS);
    ck_assert(!s->proto.is_call && s->next->proto.is_call);
    ck_assert_str_eq(s->proto.label->text, "t");
    ck_assert_str_eq(s->proto.names->next->next->name->text, "L3");
    parsed_free(&p);
}
END_TEST

START_TEST(blocks_and_labels) {
    struct parsed p = parse_body("{ a: { } b: }\nc:");
    const struct statement *s = body_of(&p);
    ck_assert_int_eq(s->kind, ST_BLOCK);
    ck_assert_str_eq(s->block.body->label.name->text, "a");
    ck_assert_ptr_null(s->block.body->next->block.body);
    ck_assert_str_eq(s->block.body->next->next->label.name->text, "b");
    ck_assert_str_eq(s->next->label.name->text, "c");
    parsed_free(&p);
}
END_TEST

START_TEST(source_positions) {
    struct parsed p = parse_body(".loc 1 20 7\n.loc 2 21 8, function_name $L + 4, inlined_at 1 3 5\nret;");
    const struct statement *s = body_of(&p);
    ck_assert_uint_eq(s->at.file, 1);
    ck_assert_uint_eq(s->at.line, 20);
    ck_assert_uint_eq(s->at.column, 7);
    ck_assert_ptr_null(s->at.tail);
    ck_assert_str_eq(s->next->at.tail, "function_name $L + 4, inlined_at 1 3 5");
    ck_assert_int_eq(s->next->next->kind, ST_INSTRUCTION);
    parsed_free(&p);
}
END_TEST

START_TEST(source_files) {
    struct parsed p = parse_items(".file 1 \"a b.cu\"\n.file 2 \"c\\\"d\", 1700000000, 99");
    const struct statement *s = p.module->statements;
    ck_assert_uint_eq(s->file.index, 1);
    ck_assert_str_eq(s->file.name, "a b.cu");
    ck_assert_str_eq(s->next->file.name, "c\\\"d");
    ck_assert_str_eq(s->next->file.tail, "1700000000, 99");
    parsed_free(&p);
}
END_TEST

START_TEST(sections_are_kept_as_text) {
    const char *section = ".section .debug_x {\n.b8 1,2 // }\n.b32 a /* } */\nl: .b64 b-c\n.s \"}\" { }\n}";
    struct parsed p = parse_items(section);
    ck_assert_int_eq(p.module->statements->kind, ST_SECTION);
    ck_assert_str_eq(p.module->statements->raw.text, section);
    ck_assert_ptr_null(p.module->statements->next);
    parsed_free(&p);
}
END_TEST

START_TEST(dwarf_lines_are_kept_as_text) {
    struct parsed p = parse_items("@@DWARF .byte \"} ;\r\n.pragma \"x\";");
    ck_assert_int_eq(p.module->statements->kind, ST_DIRECTIVE);
    ck_assert_str_eq(p.module->statements->raw.text, "@@DWARF .byte \"} ;");
    ck_assert_int_eq(p.module->statements->next->kind, ST_PRAGMA);
    parsed_free(&p);
}
END_TEST

START_TEST(pragmas_are_one_string_each) {
    struct parsed p = parse_body(".pragma \"nounroll\", \"used_bytes_mask 7\";\nret;");
    const struct statement *s = body_of(&p);
    ck_assert_str_eq(s->raw.text, "nounroll");
    ck_assert_int_eq(s->next->kind, ST_PRAGMA);
    ck_assert_str_eq(s->next->raw.text, "used_bytes_mask 7");
    ck_assert_int_eq(s->next->next->kind, ST_INSTRUCTION);
    parsed_free(&p);
}
END_TEST

START_TEST(aliases) {
    struct parsed p = parse_items(".alias a, b;");
    ck_assert_str_eq(p.module->statements->alias.alias->text, "a");
    ck_assert_str_eq(p.module->statements->alias.aliasee->text, "b");
    parsed_free(&p);
}
END_TEST

SUITE(ptx_parse) {
    TEST(header);
    TEST(address_size_is_0_when_not_given);
    TEST(variables_share_their_specifiers);
    TEST(ranges_declare_variables);
    TEST(specifiers_in_any_order);
    TEST(unsized_array);
    TEST(constant_banks_of_old_versions);
    TEST(nested_initialisers);
    TEST(generic_and_masked_addresses);
    TEST(sampler_fields);
    TEST(entry_with_parameters_and_attributes);
    TEST(functions_with_results);
    TEST(function_prefers_the_body);
    TEST(guards);
    TEST_LOOP(addresses_with_offset, 0, sizeof addresses / sizeof *addresses);
    TEST(absolute_address);
    TEST(texture_address);
    TEST(texture_address_keeps_its_tail_behind_an_offset);
    TEST(predicate_operands);
    TEST(symbol_sums_and_indices);
    TEST(parentheses_around_constants_vanish_except_in_calls);
    TEST_LOOP(calls_are_operand_lists, 0, sizeof calls / sizeof *calls);
    TEST(prototypes);
    TEST(target_lists);
    TEST(blocks_and_labels);
    TEST(source_positions);
    TEST(source_files);
    TEST(sections_are_kept_as_text);
    TEST(dwarf_lines_are_kept_as_text);
    TEST(pragmas_are_one_string_each);
    TEST(aliases);
}
