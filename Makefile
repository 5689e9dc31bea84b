# Heddle. `make demo` and `make check` do everything; `make help` lists the rest.
#   PORTABLE=1  baseline instruction set        SAN=1   address and undefined-behaviour sanitizers
#   CC=clang    another compiler                POLL=1  the timing model polls instead of waiting for events
.DEFAULT_GOAL := all
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
VARIANT := $(notdir $(CC))$(if $(PORTABLE),-portable)$(if $(SAN),-san)$(if $(POLL),-poll)
BUILD ?= build/$(VARIANT)

ARCH := $(if $(PORTABLE),,-march=native)
OPT ?= $(if $(SAN),-O1 -fno-omit-frame-pointer -fsanitize=address$(,)undefined -fno-sanitize-recover=undefined,-O3)
, := ,
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings
CPPFLAGS += -I. -I$(BUILD) -D_GNU_SOURCE $(if $(POLL),-DHEDDLE_POLL)
CFLAGS += -std=gnu11 -g $(WARN) $(OPT) $(ARCH) -ffp-contract=off -fno-strict-aliasing -pthread -MMD -MP
LDLIBS += -lconfig -lcjson -lm -pthread

LIB_DIRS := ptx isa frontend timing timing/dac host benchmarks
LIB_SRC := $(filter-out host/main.c host/cmd_%.c,$(foreach d,$(LIB_DIRS),$(wildcard $(d)/*.c)))
CMD_SRC := $(wildcard host/main.c host/cmd_*.c)
TEST_SRC := $(wildcard test/*.c)
GEN := $(BUILD)/ptx/parse.tab.c $(BUILD)/ptx/scan.yy.c
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(GEN:.c=.o)
CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o)

# One part of the tests, linked with some folders only: make part LIB_DIRS="isa" TEST_SRC="test/main.c test/isa_decode.c"
.PHONY: part
part: $(BUILD)/check
	$(BUILD)/check

.PHONY: all help demo check bench lint format fuzz validate deps install clean golden docs
help:
	@echo 'make demo      install what is missing, build, run LUD and BFS, print the table'
	@echo 'make check     every test'
	@echo 'make bench     speed of the simulator, as a table and CSV'
	@echo 'make validate  cycle counts beside the reference simulator'
	@echo 'make fuzz      fuzz the parser, lowering and execution (clang), SECONDS=60 each'
	@echo 'make lint      format, both compilers with -Werror, cppcheck, documents up to date'
	@echo 'make all format deps install clean'

all: deps
	@$(MAKE) --no-print-directory build
.PHONY: build
build: $(BUILD)/heddle $(BUILD)/libheddle.a
	@ln -sfn $(VARIANT)/heddle build/heddle 2>/dev/null || true

deps:
	@./deps

$(BUILD)/ptx/parse.tab.c $(BUILD)/ptx/parse.tab.h &: ptx/parse.y
	@mkdir -p $(@D)
	bison -Wall -Werror -o $(BUILD)/ptx/parse.tab.c --header=$(BUILD)/ptx/parse.tab.h $<
$(BUILD)/ptx/scan.yy.c $(BUILD)/ptx/scan.yy.h &: ptx/scan.l
	@mkdir -p $(@D)
	flex -o $(BUILD)/ptx/scan.yy.c --header-file=$(BUILD)/ptx/scan.yy.h $<
$(LIB_OBJ) $(CMD_OBJ) $(TEST_OBJ): | $(BUILD)/ptx/parse.tab.h $(BUILD)/ptx/scan.yy.h
$(BUILD)/ptx/%.o: $(BUILD)/ptx/%.c
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-function -Wno-unused-but-set-variable -Wno-missing-prototypes -Wno-shadow -c -o $@ $<
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/libheddle.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^
$(BUILD)/heddle: $(CMD_OBJ) $(BUILD)/libheddle.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/check: $(TEST_OBJ) $(BUILD)/libheddle.a
	$(CC) $(CFLAGS) -o $@ $^ -lcheck -lsubunit -lrt $(shell pkg-config --libs mpfr 2>/dev/null || echo -lmpfr -lgmp) $(LDLIBS)

clean:
	rm -rf build
-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(TEST_OBJ:.o=.d)
