%code requires {
/* The grammar of PTX. Source: PTX ISA 9.0, "Syntax", "State Spaces, Types and Variables", "Directives". */
#include "ptx/parse.h"
}
%code {
#include <string.h>
#define YYINITDEPTH MAX_STACK
#define YYMAXDEPTH MAX_STACK
#define YYLLOC_DEFAULT(cur, rhs, n)                                                                                    \
    ((cur).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end, (cur).end = YYRHSLOC(rhs, n).end)
/* Appends a node, or a list of nodes, to a list. */
#define ADD(list, node) ((list).last = (list).last->next = (node))
#define ADD_LIST(list, more)                                                                                           \
    do {                                                                                                               \
        if (!(list).first)                                                                                             \
            (list) = (more);                                                                                           \
        else if ((more).first)                                                                                         \
            (list).last->next = (more).first, (list).last = (more).last;                                               \
    } while (0)
#define LIST(type, node)                                                                                               \
    ({                                                                                                                 \
        struct type list_;                                                                                             \
        list_.first = list_.last = (node);                                                                             \
        list_;                                                                                                         \
    })

static int yylex(union ptx_value *value, struct loc *loc, struct parser *ps);
static void yyerror(const struct loc *loc, struct parser *ps, const char *message);
static bool open_block(struct parser *ps, struct loc brace);

/* Computes the location of a rule whose first symbol, the linkage, may be empty. */
static struct loc after(const struct word *linkage, struct loc whole, struct loc second) {
    return linkage ? whole : (struct loc){second.begin, whole.end};
}
}
%define api.pure full
%define api.prefix {ptx_yy}
%define api.value.type {union ptx_value}
%define api.location.type {struct loc}
%define parse.error custom
%define parse.lac full
%locations
%param {struct parser *ps}
%expect 0

%token <word> WORD DOTWORD LINKAGE HIDDEN SPACE TYPE VECTOR TUNING
%token <operand> INT FLOAT
%token <text> STRING
%token SINK SECTION DWARF RECOVER
%token BODY /* precedes the only body of a text */
%token VERSION TARGET ADDRESS_SIZE ENTRY FUNC ALIAS ALIGN PTR ATTRIBUTE PRAGMA LOC FILE_
%token CALLPROTOTYPE BRANCHTARGETS CALLTARGETS

%right '?' ':'
%left OR
%left AND
%left '|'
%left '^'
%left '&'
%left EQUAL NOT_EQUAL
%left '<' '>' LESS_EQUAL GREATER_EQUAL
%left LEFT RIGHT
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY
/* If a token can either continue a prototype or begin the next item, it continues the prototype. */
%precedence PROTOTYPE
%precedence PRAGMA

%type <word> linkage opcode suffix attribute_text param_name
%type <operand> operand expr
%type <operands> operands operand_list expr_list numbers strings names
%type <variables> variables parameters parameter_list results
%type <variable> variable name parameter
%type <init> init init_value address_operator
%type <inits> init_list
%type <attributes> attributes attribute early_attributes
%type <statements> items item statements statement common block
%type <statement> declaration instruction function function_head entry_head func_head
%type <text> loc_tail file_tail /* the grammar uses only the locations of these rules */

%%
text: items { ps->module->statements = $1.first; }
    | BODY block { ps->body = $2.first; }

items: %empty { $$ = (struct statements){0}; }
    | items item { $$ = $1; ADD_LIST($$, $2); }

item: header { $$ = (struct statements){0}; }
    | function { $$ = LIST(statements, $1); }
    | common
    | ALIAS WORD[alias] ',' WORD[aliasee] ';' {
        struct statement *s = build_statement(ps, ST_ALIAS, @$);
        s->alias.alias = $alias;
        s->alias.aliasee = $aliasee;
        $$ = LIST(statements, s);
    }
    | error ';' { yyerrok; $$ = (struct statements){0}; }
    | error RECOVER { yyerrok; $$ = (struct statements){0}; }

header: VERSION FLOAT { header_version(ps, @$, @2); }
    | TARGET targets
    | ADDRESS_SIZE INT { header_address_size(ps, $2); }

targets: WORD { header_target(ps, @1, $1); }
    | targets ',' WORD { header_target(ps, @3, $3); }

/* Statements that both a module and a body may contain. */
common: declaration { $$ = LIST(statements, $1); }
    | PRAGMA strings ';' { $$ = build_pragmas(ps, @$, $2); }
    | LOC INT INT INT loc_tail {
        struct statement *s = build_loc(ps, @$, (struct operand *const[]){$2, $3, $4}, @5);
        $$ = LIST(statements, s);
    }
    | FILE_ INT STRING file_tail {
        struct statement *s = build_file(ps, @$, $2, $3, @4);
        $$ = LIST(statements, s);
    }
    | SECTION { $$ = LIST(statements, build_raw(ps, ST_SECTION, @1)); }
    | DWARF { $$ = LIST(statements, build_raw(ps, ST_DIRECTIVE, @1)); }

loc_tail: %empty { $$ = NULL; }
    | loc_tail ',' WORD WORD
    | loc_tail ',' WORD WORD '+' INT
    | loc_tail ',' WORD INT INT INT

file_tail: %empty { $$ = NULL; }
    | ',' INT ',' INT { $$ = NULL; }

strings: STRING { $$ = LIST(operands, build_name(ps, @1, &words_intern(ps, $1, strlen($1))->word)); }
    | strings ',' STRING { $$ = $1; ADD($$, build_name(ps, @3, &words_intern(ps, $3, strlen($3))->word)); }

/* Functions. */
function: function_head ';' {
        $$ = $1;
        $$->loc.end = @2.end;
    }
    | func_head /* compilers before CUDA 4 omitted the semicolon */
    | function_head block {
        $$ = $1;
        $$->loc.end = @2.end;
        $$->function->has_body = true;
        $$->function->body = $2.first;
        $$->function->skipped = ps->skipped;
        $$->function->skipped_instructions = ps->skipped_instructions;
        $$->function->end = (struct loc){@2.end - 1, @2.end};
    }

function_head: entry_head
    | func_head

entry_head: linkage ENTRY early_attributes WORD parameters attributes {
        ADD_LIST($3, $6);
        struct function f = {.name = $4, .name_loc = @4, .is_entry = true, .linkage = $1, .params = $5.first,
                             .attributes = $3.first};
        $$ = build_function(ps, ST_FUNCTION, after($1, @$, @2), &f);
        ps->is_entry = true;
    }

func_head: linkage FUNC early_attributes results WORD parameters attributes %prec PROTOTYPE {
        ADD_LIST($3, $7);
        struct function f = {.name = $5, .name_loc = @5, .linkage = $1, .results = $4.first, .params = $6.first,
                             .attributes = $3.first};
        $$ = build_function(ps, ST_FUNCTION, after($1, @$, @2), &f);
        ps->is_entry = false;
    }

linkage: %empty { $$ = NULL; }
    | LINKAGE

results: parameters
parameters: %empty { $$ = (struct variables){0}; }
    | '(' ')' { $$ = (struct variables){0}; }
    | '(' parameter_list ')' { $$ = $2; }

parameter_list: parameter { $$ = LIST(variables, $1); }
    | parameter_list ',' parameter { $$ = $1; ADD($$, $3); }

parameter: specifiers name { $$ = $2; }
    | HIDDEN specifiers name { $$ = $3; $$->linkage = $1; }

attributes: %empty { $$ = (struct attributes){0}; }
    | attributes attribute { $$ = $1; ADD_LIST($$, $2); }

early_attributes: %empty { $$ = (struct attributes){0}; }
    | early_attributes ATTRIBUTE '(' attribute_text ')' {
        struct operands text = LIST(operands, build_name(ps, @4, $4));
        const struct word *name = &words_intern(ps, ".attribute", 10)->word;
        struct attributes one = LIST(attributes, build_attribute(ps, @2, name, text));
        $$ = $1;
        ADD_LIST($$, one);
    }

attribute: TUNING { $$ = LIST(attributes, build_attribute(ps, @1, $1, (struct operands){0})); }
    | TUNING numbers { $$ = LIST(attributes, build_attribute(ps, @1, $1, $2)); }
    | PRAGMA strings ';' {
        $$ = LIST(attributes, build_attribute(ps, @1, &words_intern(ps, ".pragma", 7)->word, $2));
    }

numbers: INT { $$ = LIST(operands, $1); }
    | numbers ',' INT { $$ = $1; ADD($$, $3); }

attribute_text: DOTWORD
    | DOTWORD '(' numbers ')' {
        const char *text = source_text(ps, @$);
        $$ = &words_intern(ps, text, strlen(text))->word;
    }

/* Declarations. The parser collects the specifiers of a declaration in ps->decl, and each declared name gets a copy. */
declaration: linkage specifiers variables ';' {
        $$ = build_statement(ps, ST_VARIABLE, after($1, @$, @2));
        decl_expand(ps, $3.first);
        $$->variable = $3.first;
        for (struct variable *v = $3.first; v; v = v->next)
            v->linkage = $1;
    }

specifiers: SPACE { decl_begin(ps); decl_space(ps, @1, $1); }
    | ALIGN INT { decl_begin(ps); decl_align(ps, $2); }
    | ATTRIBUTE '(' attribute_text ')' { decl_begin(ps); ps->decl.attribute = $3; }
    | specifiers SPACE { decl_space(ps, @2, $2); }
    | specifiers ALIGN INT { decl_align(ps, $3); }
    | specifiers ATTRIBUTE '(' attribute_text ')' { ps->decl.attribute = $4; }
    | specifiers TYPE { decl_type(ps, @2, $2); }
    | specifiers VECTOR { ps->decl.vector = $2; }
    | specifiers PTR { ps->decl.is_ptr = true; }
    | specifiers DOTWORD { decl_other(ps, @2, $2); }

variables: variable { $$ = LIST(variables, $1); }
    | variables ',' variable { $$ = $1; ADD($$, $3); }

variable: name
    | WORD '<' INT '>' { $$ = decl_name(ps, @1, $1); decl_range(ps, $$, $3); }
    | name '=' init { $$ = $1; $$->init = $3; }

name: WORD { $$ = decl_name(ps, @1, $1); }
    | SINK { $$ = decl_name(ps, @1, NULL); }
    | name '[' ']' { $$ = $1; decl_dim(ps, $$, @3, NULL); }
    | name '[' expr ']' { $$ = $1; decl_dim(ps, $$, @3, $3); }

init: init_value
    | '{' '}' { $$ = build_init(ps, INIT_LIST, @$); }
    | '{' init_list '}' { $$ = build_init(ps, INIT_LIST, @$); $$->list = $2.first; }
    | WORD '=' expr { $$ = build_init(ps, INIT_VALUE, @$); $$->field = $1; $$->value = build_value(ps, $3); }

init_list: init { $$ = LIST(inits, $1); }
    | init_list ',' init { $$ = $1; ADD($$, $3); }

init_value: expr { $$ = build_init(ps, INIT_VALUE, @$); $$->value = build_value(ps, $1); }
    | address_operator
    | address_operator '+' INT { $$ = $1; build_move(ps, $$, @$, $3->integer); }
    | address_operator '-' INT { $$ = $1; build_move(ps, $$, @$, -$3->integer); }
    | INT '(' init_value ')' { $$ = $3; build_mask(ps, $$, @$, $1); }

address_operator: WORD '(' expr ')' {
        $$ = build_init(ps, INIT_VALUE, @$);
        $$->address_operator = $1;
        $$->value = build_value(ps, $3);
    }

/* Bodies. */
block: open statements '}' { ps->depth--; $$ = $2; }
    | open statements error '}' { ps->depth--; yyerrok; $$ = $2; }

open: '{' {
        if (!open_block(ps, @1))
            YYABORT;
    }

statements: %empty { $$ = (struct statements){0}; }
    | statements statement { $$ = $1; ADD_LIST($$, $2); }

statement: instruction { $$ = LIST(statements, $1); }
    | '@' WORD instruction {
        $3->loc = @$;
        $3->insn.guard = $2;
        $3->insn.guard_loc = @2;
        $$ = LIST(statements, $3);
    }
    | '@' '!' WORD instruction {
        $4->loc = @$;
        $4->insn.guard = $3;
        $4->insn.guard_loc = @3;
        $4->insn.guard_not = true;
        $$ = LIST(statements, $4);
    }
    | WORD ':' {
        struct statement *s = build_statement(ps, ST_LABEL, @1);
        s->label.name = $1;
        $$ = LIST(statements, s);
    }
    | WORD ':' CALLPROTOTYPE results param_name parameters attributes ';' {
        struct function f = {.is_prototype = true, .name_loc = @5, .results = $4.first, .params = $6.first,
                             .attributes = $7.first};
        struct statement *s = build_function(ps, ST_PROTOTYPE, @$, &f);
        s->proto.label = $1;
        $$ = LIST(statements, s);
    }
    | WORD ':' BRANCHTARGETS names ';' { $$ = LIST(statements, build_targets(ps, @$, $1, $4, false)); }
    | WORD ':' CALLTARGETS names ';' { $$ = LIST(statements, build_targets(ps, @$, $1, $4, true)); }
    | block {
        struct statement *s = build_statement(ps, ST_BLOCK, @1);
        s->block.body = $1.first;
        $$ = LIST(statements, s);
    }
    | common
    | error ';' { yyerrok; $$ = (struct statements){0}; }
    | error RECOVER { yyerrok; $$ = (struct statements){0}; }

param_name: SINK { $$ = NULL; }
    | WORD

names: WORD { $$ = LIST(operands, build_name(ps, @1, $1)); }
    | names ',' WORD { $$ = $1; ADD($$, build_name(ps, @3, $3)); }

instruction: opcode operands ';' { $$ = build_instruction(ps, @$, $1, @1, $2); }

opcode: WORD
    | opcode suffix { $$ = build_joined(ps, $1, $2); }

suffix: DOTWORD | SPACE | TYPE | VECTOR

operands: %empty { $$ = (struct operands){0}; }
    | operand_list

operand_list: operand { $$ = LIST(operands, $1); }
    | operand_list ',' operand { $$ = $1; ADD($$, $3); }

operand: expr
    | WORD[array] '[' expr ']' { $$ = build_index(ps, @$, build_name(ps, @array, $array), $3); }
    | '{' operand_list '}' { $$ = build_group(ps, OPD_VECTOR, @$, $2); }
    | '{' operand_list[list] '}'[end] '|' WORD[resident] { /* of tex and tld4 */
        struct loc place = {@1.begin, @end.end};
        $$ = fold_binary(ps, @$, '|', build_group(ps, OPD_VECTOR, place, $list), build_name(ps, @resident, $resident));
    }
    | '[' operand_list ']' { $$ = build_address(ps, @$, $2); }

expr: WORD { $$ = build_name(ps, @1, $1); }
    | INT
    | FLOAT
    | SINK { $$ = build_operand(ps, OPD_SINK, @1); }
    | '(' ')' { $$ = build_group(ps, OPD_PARENS, @$, (struct operands){0}); }
    | '(' expr_list ')' { $$ = build_group(ps, OPD_PARENS, @$, $2); }
    | '(' TYPE ')' expr %prec UNARY { $$ = fold_cast(ps, @$, $2, $4); }
    | '-' expr %prec UNARY { $$ = fold_unary(ps, @$, '-', $2); }
    | '+' expr %prec UNARY { $$ = fold_unary(ps, @$, '+', $2); }
    | '~' expr %prec UNARY { $$ = fold_unary(ps, @$, '~', $2); }
    | '!' expr %prec UNARY { $$ = fold_unary(ps, @$, '!', $2); }
    | expr '+' expr { $$ = fold_binary(ps, @$, '+', $1, $3); }
    | expr '-' expr { $$ = fold_binary(ps, @$, '-', $1, $3); }
    | expr '*' expr { $$ = fold_binary(ps, @$, '*', $1, $3); }
    | expr '/' expr { $$ = fold_binary(ps, @$, '/', $1, $3); }
    | expr '%' expr { $$ = fold_binary(ps, @$, '%', $1, $3); }
    | expr '&' expr { $$ = fold_binary(ps, @$, '&', $1, $3); }
    | expr '|' expr { $$ = fold_binary(ps, @$, '|', $1, $3); }
    | expr '^' expr { $$ = fold_binary(ps, @$, '^', $1, $3); }
    | expr '<' expr { $$ = fold_binary(ps, @$, '<', $1, $3); }
    | expr '>' expr { $$ = fold_binary(ps, @$, '>', $1, $3); }
    | expr LEFT expr { $$ = fold_binary(ps, @$, LEFT, $1, $3); }
    | expr RIGHT expr { $$ = fold_binary(ps, @$, RIGHT, $1, $3); }
    | expr LESS_EQUAL expr { $$ = fold_binary(ps, @$, LESS_EQUAL, $1, $3); }
    | expr GREATER_EQUAL expr { $$ = fold_binary(ps, @$, GREATER_EQUAL, $1, $3); }
    | expr EQUAL expr { $$ = fold_binary(ps, @$, EQUAL, $1, $3); }
    | expr NOT_EQUAL expr { $$ = fold_binary(ps, @$, NOT_EQUAL, $1, $3); }
    | expr AND expr { $$ = fold_binary(ps, @$, AND, $1, $3); }
    | expr OR expr { $$ = fold_binary(ps, @$, OR, $1, $3); }
    | expr '?' expr ':' expr { $$ = fold_select(ps, @$, $1, $3, $5); }

expr_list: expr { $$ = LIST(operands, $1); }
    | expr_list ',' expr { $$ = $1; ADD($$, $3); }
%%

static int yylex(union ptx_value *value, struct loc *loc, struct parser *ps) { return token_next(ps, value, loc); }

/* Bison calls this function only when its stack is full. */
static void yyerror(const struct loc *loc, struct parser *ps, const char *message) {
    (void)message;
    diag_error(ps->diags, *loc, "nested too deeply");
}

/* Skips the body of a kernel up to its }, if the body may be parsed later. Other functions are few. */
static void skip_body(struct parser *ps, struct loc brace) {
    ps->skipped = (struct loc){0, 0};
    ps->skipped_instructions = 0;
    if (!ps->skips_bodies || !ps->is_entry || ps->diags->errors || !ps->module->address_size)
        return;
    const uint32_t end = skim_body(ps, brace.end, &ps->skipped_instructions);
    if (!end)
        return;
    ps->skipped = (struct loc){brace.begin, end + 1};
    scan_skip(ps, end);
}

static bool open_block(struct parser *ps, struct loc brace) {
    ps->braces = 0;
    if (ps->depth == MAX_SCOPES) {
        diag_error(ps->diags, brace, "more than %d nested blocks", MAX_SCOPES);
        return false;
    }
    if (ps->depth == 0)
        skip_body(ps, brace);
    ps->open_braces[ps->depth++] = brace.begin;
    return true;
}

/* Passes the expected tokens, by token code, to expect_report(). */
static int yyreport_syntax_error(const yypcontext_t *ctx, struct parser *ps) {
    yysymbol_kind_t symbols[YYNTOKENS];
    bool by_symbol[YYNTOKENS] = {false}, expected[N_TOKENS] = {false};
    int n = yypcontext_expected_tokens(ctx, symbols, YYNTOKENS);
    for (int i = 0; i < n; i++)
        by_symbol[symbols[i]] = true;
    int found = PTX_YYEOF;
    for (int token = 0; token < N_TOKENS; token++) {
        yysymbol_kind_t symbol = YYTRANSLATE(token);
        if (symbol == YYSYMBOL_YYUNDEF)
            continue;
        expected[token] = by_symbol[symbol];
        if (symbol == yypcontext_token(ctx))
            found = token;
    }
    expect_report(ps, found, expected);
    token_recover(ps, found);
    return 0;
}
