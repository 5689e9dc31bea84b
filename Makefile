# Heddle. `make demo` and `make check` do everything; `make help` lists the rest.
#   PORTABLE=1  runs on every processor         SAN=1   address and undefined-behaviour sanitizers
#   V=1         show the commands
#   CC=clang    another compiler                POLL=1  the timing model polls instead of waiting for events
#   TINY=1      the fixed tables of the timing model have minimal sizes, so that tests fill them
#   ASSERTS=1   expensive assertions (isa/hot_assert.h); also on with SAN, POLL and TINY
#   JIT=0       the functional model interprets everything: isa/jit is not compiled
#   PGO=1       profile-guided optimisation: builds with counters, runs, and builds again with the counts (gcc)
.DEFAULT_GOAL := all
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
# If a packager sets CFLAGS, they select the processor: the build is then portable, and warnings are not errors.
GIVEN := $(if $(filter undefined default,$(origin CFLAGS)),,yes)
PORTABLE ?= $(GIVEN)
# SAN=thread is the thread sanitizer, see `make tsan`.
NO_JIT := $(if $(filter 0 no off,$(JIT)),yes)
SANITIZER := $(if $(filter thread,$(SAN)),tsan,san)
VARIANT := $(notdir $(CC))$(if $(PORTABLE),-portable)$(if $(SAN),-$(SANITIZER))$(if $(POLL),-poll)$(if $(TINY),-tiny)$(if $(NO_JIT),-nojit)$(if $(PGO),-pgo)
BUILD ?= build/$(VARIANT)
# PGO=1 builds with the profile in TRAIN. PGO=train is the build with counters, which makes that profile.
TRAIN := $(if $(filter train,$(PGO)),$(BUILD),$(BUILD)-train)
ifdef PGO
ifneq ($(SAN)$(POLL)$(TINY),)
$(error PGO=1 is for speed: it does not go with SAN, POLL or TINY)
endif
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
$(error PGO=1 needs gcc, and $(CC) is clang: make PGO=1 CC=gcc)
endif
endif

ARCH := $(if $(PORTABLE),,-march=native)
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
, := ,
OPT_san := -O1 -fno-omit-frame-pointer -fsanitize=address$(,)undefined -fno-sanitize-recover=undefined
OPT_tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
OPT ?= $(if $(SAN),$(OPT_$(SANITIZER)),-O3)
WARN := -Wall -Wextra $(if $(GIVEN)$(PGO),,-Werror) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings
CFLAGS ?= -g
# Flags in this order: Heddle's, the user's, and those that results depend on, which the user cannot override.
KEPT := -std=gnu11 -fno-fast-math -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing -pthread
# Expensive assertions, see isa/hot_assert.h.
ASSERTS ?= $(SAN)$(POLL)$(TINY)
VARIANT_DEFINES := $(if $(POLL),-DHEDDLE_POLL) $(if $(NO_JIT),-DHEDDLE_NO_JIT) $(if $(TINY),-DHEDDLE_TINY) $(if $(ASSERTS),-DHEDDLE_HOT_ASSERTS)
COMPILE = $(CC) -I. -I$(BUILD) -D_GNU_SOURCE $(VARIANT_DEFINES) $(MORE_DEFINES) $(CPPFLAGS) \
	$(WARN) $(OPT) $(ARCH) $(CFLAGS) $(HOT) $(MORE_FLAGS) $(KEPT) -MMD -MP
# gcc finds a function's counts by the name of the auxiliary output, so both builds use the same name. Code that did not
# run, or has changed since, is compiled as without a profile. gcc inlines other functions with a profile; the warnings
# that result are not errors.
PROFILE := $(if $(PGO),$(if $(filter train,$(PGO)),-fprofile-generate,-fprofile-use -fprofile-partial-training -Wno-missing-profile -Wno-coverage-mismatch))
PROFILE_NAME = $(if $(PGO),-dumpbase $(@:$(BUILD)/%.o=$(TRAIN)/profile/%))
LINK = $(CC) $(OPT) $(CFLAGS) $(PROFILE) $(KEPT) $(LDFLAGS)
LIBS := -lconfig -lcjson -lsqlite3 -lelf -llz4 -lzstd -lxxhash -lm -pthread $(LDLIBS)
# Each shared library delays the start of the command by 60 us, so the command contains the libraries whose archives are
# installed. Portable builds are distributed; they load libelf, so that users can replace it (LGPL). All builds load
# libconfig, whose allocations must not fail in tests of little memory (test/tools/no_memory.c).
ARCHIVES := $(patsubst %,-l:lib%.a,$(if $(PORTABLE),,elf z) sqlite3 lz4 zstd xxhash) -Wl,--as-needed

# Folders of `make install`, below DESTDIR; the library searches them last.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DATADIR := $(PREFIX)/share/heddle

# V=1 shows the commands
Q := $(if $(V),,@)
SAY := $(if $(V),true,echo)

ISA_DIRS := isa isa/machine isa/exec isa/paths isa/affine $(if $(NO_JIT),,isa/jit) isa/interp
SM_PARTS := $(addprefix timing/sm/,fetch regfile sched scoreboard)
TIMING_DIRS := timing timing/config timing/report timing/mem $(SM_PARTS) timing/sm timing/strides
MECHANISM_DIRS := mechanisms $(patsubst %/,%,$(wildcard mechanisms/*/))
HOST_DIRS := host/load host/results host/sampled host host/live
FRONTEND_DIRS := frontend/analysis frontend/lower frontend/passes
LIB_DIRS := ptx $(ISA_DIRS) $(FRONTEND_DIRS) $(TIMING_DIRS) $(MECHANISM_DIRS) $(HOST_DIRS) benchmarks reproduce host/program host/report host/cli
LIB_SRC := $(filter-out host/cli/main.c host/cli/cmd_%.c isa/interp/$(if $(NO_JIT),interp_jit.c,interp_no_jit.c),$(foreach d,$(LIB_DIRS),$(wildcard $(d)/*.c)))
CMD_SRC := $(wildcard host/cli/main.c host/cli/cmd_*.c)
CUDA_DIRS := host/cuda/core host/cuda/runtime host/cuda/driver
CUDA_SRC := $(wildcard $(CUDA_DIRS:%=%/*.c))
CUDA_OBJ := $(CUDA_SRC:%.c=$(BUILD)/%.o)
# Sources of libheddle.so: only those that heddle.h needs.
SO_SRC := $(filter-out benchmarks/% host/program/% host/report/% host/cli/% reproduce/%,$(LIB_SRC))
SO_VERSION := $(shell sed -n 's/.*HEDDLE_VERSION "\(.*\)"/\1/p' host/heddle.h)
SONAME := libheddle.so.$(firstword $(subst ., ,$(SO_VERSION)))
SO := $(if $(SAN),,$(BUILD)/libheddle.so.$(SO_VERSION))
# The CUDA driver, and the CUDA runtime by the names that programs of CUDA 11, 12 and 13 load. One library contains all;
# the others forward to it. Sanitizer builds omit them, since the programs themselves would need the sanitizer.
CUDA_NAMES := libcudart.so.11.0 libcudart.so.12 libcudart.so.13 libcuda.so.1
CUDA_CORE := $(BUILD)/cuda/libheddle-cuda.so
# In a separate folder, so that libraries of an installed toolkit take precedence.
NVRTC_LIBS := $(patsubst %,$(BUILD)/cuda/nvrtc/libnvrtc.so.%,11.2 12 13)
# Redirect the calls of a runtime that is linked into a program to the core: host/cuda/redirect/audit.c.
REDIRECT_LIBS := $(BUILD)/cuda/libheddle-audit.so $(BUILD)/cuda/libheddle-redirect.so
CUDA_LIBS := $(if $(SAN),,$(CUDA_CORE) $(CUDA_NAMES:%=$(BUILD)/cuda/%) $(REDIRECT_LIBS) $(NVRTC_LIBS))
TEST_DIRS := test test/ptx $(ISA_DIRS:%=test/%) test/frontend $(FRONTEND_DIRS:%=test/%) $(TIMING_DIRS:%=test/%) $(MECHANISM_DIRS:%=test/%) $(HOST_DIRS:%=test/%) test/host/program test/host/report test/host/cli test/random test/golden test/toys
TEST_SRC := $(wildcard $(TEST_DIRS:%=%/*.c))
GEN := $(BUILD)/ptx/parse.tab.c $(BUILD)/ptx/scan.yy.c
# A portable build has its lane functions three times, for different processors, see isa/levels.h.
LEVELS := $(if $(PORTABLE),$(if $(SAN)$(findstring -m,$(ARCH)),,$(if $(filter x86_64 amd64,$(MACHINE)),avx2 avx512)))
FLAGS_avx2 := -mavx2 -mfma -mbmi -mbmi2
FLAGS_avx512 := $(FLAGS_avx2) -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl
COPIED := $(shell sed -n 's/^COPIED(\(.*\))/\1/p' isa/groups.def) span
LEVEL_OBJ := $(foreach l,$(LEVELS),$(COPIED:%=$(BUILD)/$(l)/isa/exec/exec_%.o))
SO_OBJ := $(SO_SRC:%.c=$(BUILD)/%.o) $(GEN:.c=.o) $(LEVEL_OBJ)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(GEN:.c=.o) $(LEVEL_OBJ)
CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o)
# The code that runs the suites, test/harness, is linked if test/main.c is among the sources.
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o) $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(if $(filter test/main.c,$(TEST_SRC)),test/harness/*.c)))

# Builds and runs a part of the tests, linked with some folders only: make part LIB_DIRS="isa isa/machine isa/exec isa/paths" TEST_SRC="test/main.c test/isa/decode.c"
.PHONY: part
part: $(BUILD)/check
	$(BUILD)/check

# Runs the suites with threads (several simulators in one process) under the thread sanitizer.
.PHONY: tsan
TSAN_SUITES := host_threads host_handles host_ptx_run isa_interp_cooperative isa_workers timing_launches timing_windows
TSAN_SRC := $(wildcard test/main.c $(foreach s,host/threads host/handles host/ptx_run isa/interp/cooperative isa/machine/workers timing/launches timing/windows,test/$(s).c))
tsan:
	@./deps check
	@$(SUBMAKE) SAN=thread TEST_SRC='$(TSAN_SRC)' build/$(notdir $(CC))-tsan/check
	@CK_TIMEOUT_MULTIPLIER=10 TSAN_OPTIONS='halt_on_error=1 second_deadlock_stack=1' build/$(notdir $(CC))-tsan/check $(TSAN_SUITES)

.PHONY: all help demo check check-long bench reproduce lint format fuzz validate deps install clean golden docs
help:
	@echo 'make demo      install what is missing, build, run LUD and BFS, print the table'
	@echo 'make check     every test; make check-long all combinations, where that takes a sample'
	@echo 'make bench     speed of the simulator, as a table and CSV'
	@echo 'make validate  cycle counts beside the reference simulator'
	@echo 'make reproduce the figures of the papers, size paper, into build/reproduction (SIZE=small is short)'
	@echo 'make PGO=1     trained: profiles are made once, in build/*-pgo-train (also: make PGO=1 bench, check, install ...);'
	@echo '               make PGO=1 retrain, when sources have changed much, makes them anew'
	@echo 'make install   and make uninstall: PREFIX=/usr/local, LIBDIR, DESTDIR'
	@echo 'make tarball   a portable build in build/heddle-VERSION-MACHINE.tar.gz, to unpack anywhere'
	@echo 'make wheel     the Python package with the library inside, for pip, into build/'
	@echo 'make tsan      several simulators in one process, under the thread sanitizer'
	@echo 'make fuzz      fuzz the parser, lowering, execution and the timing models (clang), SECONDS=60 each'
	@echo 'make lint      format, both compilers with -Werror, cppcheck, includes, circles, mechanisms, columns, English, documents'
	@echo 'make all format deps install clean'

all: deps
	@$(MAKE) --no-print-directory build
.PHONY: build
build: $(BUILD)/heddle $(BUILD)/libheddle.a $(SO) $(BUILD)/heddle.pc $(BUILD)/man/heddle.3 $(BUILD)/man/heddle.1 $(CUDA_LIBS)
	@ln -sfn $(VARIANT)/heddle build/heddle 2>/dev/null || true

# The shared library alone, and its path, which python/backend.py reads. `make wheel` builds a wheel for any processor.
.PHONY: library wheel
library: $(SO)
	@echo $(BUILD)/$(SONAME)
wheel:
	@./deps
	@$(SUBMAKE) PORTABLE=1 library
	@cd python && HEDDLE_LIBRARY=$(CURDIR)/build/$(notdir $(CC))-portable/$(SONAME) \
		python3 -c 'import os, backend; os.makedirs("../build", exist_ok=True); print("build/" + backend.build_wheel("../build"))'

deps:
	@./deps

$(BUILD)/ptx/parse.tab.c $(BUILD)/ptx/parse.tab.h &: ptx/parse.y
	@mkdir -p $(@D)
	@$(SAY) '  bison   $<'
	$(Q)bison -Wall -Werror -o $(BUILD)/ptx/parse.tab.c --header=$(BUILD)/ptx/parse.tab.h $<
$(BUILD)/ptx/scan.yy.c $(BUILD)/ptx/scan.yy.h &: ptx/scan.l
	@mkdir -p $(@D)
	@$(SAY) '  flex    $<'
	$(Q)flex -o $(BUILD)/ptx/scan.yy.c --header-file=$(BUILD)/ptx/scan.yy.h $<
# Objects also serve shared libraries, which hide everything that heddle.h does not declare.
$(LIB_OBJ): MORE_FLAGS += -fPIC -fvisibility=hidden
$(LIB_OBJ) $(CMD_OBJ): MORE_FLAGS += $(PROFILE) $(PROFILE_NAME)
$(LIB_OBJ) $(CMD_OBJ) $(TEST_OBJ): | $(BUILD)/ptx/parse.tab.h $(BUILD)/ptx/scan.yy.h
# gcc renames some static functions of the generated sources in a build with counters, and would warn about them.
$(BUILD)/ptx/%.o: $(BUILD)/ptx/%.c
	@$(SAY) '  cc      $<'
	$(Q)$(COMPILE) $(if $(PGO),-w) -Wno-unused-function -Wno-unused-but-set-variable -Wno-missing-prototypes -Wno-shadow -c -o $@ $<
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@$(SAY) '  cc      $<'
	$(Q)$(COMPILE) -c -o $@ $<

define LEVEL_RULE
$(BUILD)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	@$$(SAY) '  cc      $$< ($(1))'
	$$(Q)$$(COMPILE) -DROWS_LEVEL=_$(1) $$(FLAGS_$(1)) -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call LEVEL_RULE,$(l))))
$(BUILD)/isa/levels.o: MORE_DEFINES += $(if $(LEVELS),-DHEDDLE_LEVELS)
# Loops over lanes must be vectorised, which -O2 does not always do.
$(BUILD)/isa/exec/%.o $(LEVEL_OBJ): HOT = $(if $(filter -O2,$(CFLAGS)),-O3)
# The timing model reads words that it has just written. A vector load of two such words cannot be forwarded from the
# store buffer, so it would stall. These options stop gcc from joining scalar code to vector code, and from computing
# minima of cycles in vector registers.
SCALAR := -fno-tree-slp-vectorize $(shell echo 'int x;' | $(CC) -mno-stv -x c -c -o /dev/null - 2>/dev/null && echo -mno-stv)
$(BUILD)/timing/%.o $(BUILD)/mechanisms/%.o $(BUILD)/isa/interp/%.o: HOT = $(SCALAR)
# The code of a modern core's cycle does not fit into the host's instruction cache. With -O2 it is smaller and misses
# this cache less often.
SMALL := $(if $(PGO)$(filter -O%,$(CFLAGS)),,$(if $(filter -O3,$(OPT)),-O2))
$(BUILD)/timing/sm/modern_%.o $(BUILD)/timing/sm/path_state.o $(BUILD)/timing/sm/fetch/%.o: HOT = $(SCALAR) $(SMALL)

# Converts text files to C strings: presets, for a library without its data files, and the texts of `heddle help`.
AS_STRING := sed 's/["\\]/\\&/g; s/.*/"&\\n"/'
$(BUILD)/presets.inc: $(wildcard configs/*.cfg)
	@mkdir -p $(@D)
	@for f in $(sort $^); do echo "{\"$${f##*/}\","; $(AS_STRING) $$f; echo '},'; done > $@
$(BUILD)/help.inc: $(wildcard host/cli/help/*.txt)
	@mkdir -p $(@D)
	@for f in $(sort $^); do n=$${f##*/}; echo "const char help_$${n%.txt}[] ="; $(AS_STRING) $$f; echo ';'; done > $@
$(BUILD)/host/cli/help.o: $(BUILD)/help.inc
$(BUILD)/timing/config/builtin.o: $(BUILD)/presets.inc
$(BUILD)/timing/config/places.o: MORE_DEFINES += -DHEDDLE_DATA='"$(DATADIR)"'
$(BUILD)/timing/config/places.o: $(BUILD)/prefix

# A change of flags rebuilds all objects.
$(LIB_OBJ) $(CMD_OBJ) $(CUDA_OBJ): $(BUILD)/flags
.PHONY: force
$(BUILD)/flags $(BUILD)/prefix: force
	@mkdir -p $(@D)
	@echo '$(WAS)' | cmp -s - $@ || echo '$(WAS)' > $@
# A profile is made once; `make PGO=1 retrain` makes it again.
$(if $(filter-out train,$(PGO)),$(LIB_OBJ) $(CMD_OBJ)): $(TRAIN)/trained
$(TRAIN)/trained:
	@$(MAKE) --no-print-directory PGO=train BUILD=$(TRAIN) $(TRAIN)/heddle
	@$(SAY) '  train   $(TRAIN)/heddle'
	@scripts/train.sh $(TRAIN)/heddle $(TRAIN)/profile
	@touch $@
.PHONY: retrain
retrain:
	$(if $(PGO),,$(error retrain is for a build with PGO=1: make PGO=1 retrain))
	@./deps
	@rm -rf $(TRAIN)
	@$(SUBMAKE) build
$(BUILD)/flags: WAS = $(CC) $(ARCH) $(OPT) $(PROFILE) $(CPPFLAGS) $(CFLAGS) $(VARIANT_DEFINES) shared
$(BUILD)/prefix: WAS = $(PREFIX) $(LIBDIR) $(SO_VERSION) $(LIBS)

# All objects, for the command, the tests and the CUDA libraries.
$(BUILD)/libheddle-internal.a: $(LIB_OBJ)
	@rm -f $@
	@$(SAY) '  ar      $@'
	$(Q)$(AR) rcs $@ $^
# The static library for users: one object, in which only names of heddle.h are global, so that other names cannot clash
# with the user's.
OBJCOPY ?= $(or $(shell $(CC) -print-prog-name=objcopy 2>/dev/null),objcopy)
# With -flto, gcc must write machine code here, so that objcopy finds the names.
NO_LTO := $(if $(findstring -flto,$(CFLAGS) $(OPT)),$(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),,-flinker-output=nolto-rel))
$(BUILD)/libheddle.a: $(SO_OBJ) Makefile
	@rm -f $@
	@$(SAY) '  ar      $@'
	$(Q)$(CC) $(OPT) $(CFLAGS) $(NO_LTO) -fno-sanitize=all -r -nostdlib -o $(BUILD)/libheddle.o $(SO_OBJ)
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='heddle_*' --keep-global-symbol=ptx_run $(BUILD)/libheddle.o
	$(Q)$(AR) rcs $@ $(BUILD)/libheddle.o
	@rm -f $(BUILD)/libheddle.o
# Exports only the names of heddle.h.
$(BUILD)/libheddle.so.$(SO_VERSION): $(SO_OBJ) host/heddle.map
	@$(SAY) '  link    $@'
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=host/heddle.map -Wl,-Bsymbolic -Wl,-z,defs -o $@ $(SO_OBJ) $(LIBS)
	@ln -sf $(@F) $(BUILD)/$(SONAME) && ln -sf $(SONAME) $(BUILD)/libheddle.so
$(BUILD)/heddle.pc: host/heddle.pc.in $(BUILD)/prefix
	@sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(SO_VERSION)|; s|@LIBS@|$(LIBS)|' $< > $@
# heddle(3) is written by hand; a page for each function is generated from the header.
$(BUILD)/man/heddle.3: host/heddle.h host/man/pages.awk host/man/heddle.3
	@mkdir -p $(@D)
	@awk -v dir=$(@D) -f host/man/pages.awk host/heddle.h > $(@D)/functions
	@cp host/man/heddle.3 $@
# heddle(1) and a page for each command are generated from --help, if help2man is installed.
$(BUILD)/man/heddle.1: $(CMD_OBJ) $(BUILD)/host/cli/help.o host/man/pages.sh host/man/help.awk | $(BUILD)/heddle
	@host/man/pages.sh $(BUILD)/heddle $(@D)
# At a fixed address, the command starts faster: the loader need not relocate its tables. Packagers choose for themselves.
# The second command links the shared libraries if an archive is missing.
$(BUILD)/heddle: $(CMD_OBJ) $(BUILD)/libheddle-internal.a
	@$(SAY) '  link    $@'
	$(Q)$(if $(GIVEN)$(SAN),,$(LINK) -no-pie -o $@ $^ $(ARCHIVES) $(LIBS) 2>/dev/null || )$(LINK) $(if $(GIVEN)$(SAN),,-no-pie) -o $@ $^ $(LIBS)
# Some functions are wrapped for tests: malloc() by test/harness/memory.c, heddle_read() by test/benchmarks.c, and functions
# that open machines and launch kernels by test/tried.c.
WRAPPED := malloc realloc free $(if $(filter test/benchmarks.c,$(TEST_SRC)),heddle_read) \
    $(if $(filter test/tried.c,$(TEST_SRC)),heddle_open context_open heddle_launch)
$(BUILD)/check: $(TEST_OBJ) $(BUILD)/libheddle-internal.a
	@$(SAY) '  link    $@'
	$(Q)$(LINK) $(WRAPPED:%=-Wl$(,)--wrap=%) -o $@ $^ -lcheck -lsubunit -lrt $(shell pkg-config --libs mpfr 2>/dev/null || echo -lmpfr -lgmp) $(LIBS)

# Most functions of these libraries have no declaration here: programs use those of their toolkit.
$(CUDA_OBJ): MORE_FLAGS += -fPIC -fvisibility=hidden -Wno-missing-prototypes
# The library stays loaded after dlclose(), because it reports at the end of the process.
# Without a packager's CFLAGS, the linker strips debugging information; packagers strip it themselves and keep it.
$(CUDA_CORE): $(CUDA_OBJ) $(BUILD)/libheddle-internal.a
	@mkdir -p $(@D)
	@$(SAY) '  link    $@'
	@printf 'HEDDLE_CUDA {\n  global: cu[A-Z]*; cuda*; __cuda*; heddle_cuda_*;\n  local: *;\n};\n' > $@.map
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) -Wl,--version-script=$@.map -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,nodelete $(if $(GIVEN),,-Wl$(,)-S) -o $@ $^ $(LIBS)
	@ln -sfn libcuda.so.1 $(@D)/libcuda.so
# A forwarding library: its symbols are jumps into the one library.
$(BUILD)/cuda/libcud%: $(CUDA_CORE) host/cuda/version.c host/cuda/lead.sh
	@$(SAY) '  link    $@'
	@sh host/cuda/lead.sh $(CUDA_CORE) $(@F) > $@.s
	@printf '$(@F) %s\n' '{ global: cu*; __cuda*; local: *; };' > $@.map
	$(Q)$(COMPILE) -MF $@.d -fPIC -shared -DCUDA_LIBRARY='"$(@F)"' -Wl,-soname,$(@F) -Wl,--version-script=$@.map -Wl,-z,defs '-Wl,-rpath,$$ORIGIN' -o $@ host/cuda/version.c $@.s $(CUDA_CORE) $(LDFLAGS)
$(BUILD)/cuda/libheddle-audit.so: host/cuda/redirect/audit.c host/cuda/redirect/symbols.c host/cuda/redirect/symbols.h host/cuda/redirect/machine_code.h
	@mkdir -p $(@D)
	@$(SAY) '  link    $@'
	$(Q)$(COMPILE) -MF $@.d -fPIC -fvisibility=hidden -shared -Wl,-soname,$(@F) -Wl,-z,defs -o $@ $(filter %.c,$^) $(LDFLAGS)
$(BUILD)/cuda/libheddle-redirect.so: $(CUDA_CORE) host/cuda/redirect/stubs.c host/cuda/redirect/stubs.sh
	@$(SAY) '  link    $@'
	@sh host/cuda/redirect/stubs.sh $(CUDA_CORE) > $@.s
	$(Q)$(COMPILE) -MF $@.d -fPIC -fvisibility=hidden -shared -Wl,-soname,$(@F) -Wl,-z,defs -o $@ host/cuda/redirect/stubs.c $@.s $(LDFLAGS)
$(BUILD)/cuda/nvrtc/libnvrtc.so.%: host/cuda/nvrtc.c
	@mkdir -p $(@D)
	@$(SAY) '  link    $@'
	$(Q)$(COMPILE) -MF $@.d -Wno-missing-prototypes -fPIC -shared -Wl,-soname,$(@F) -o $@ $< $(LDFLAGS)

# A preloaded library that makes allocations fail, for test/host/cli/no_memory.c.
$(BUILD)/no_memory.so: test/tools/no_memory.c
	@mkdir -p $(@D)
	@$(SAY) '  link    $@'
	$(Q)$(CC) -std=gnu11 $(WARN) -O1 -fPIC -shared -o $@ $<

# Tests run only for seconds, so they are compiled without optimisation, except tests that compute much themselves.
SWEEPS := float_ref float_ref_near exec_float exec_int reference_bits reference_int reference_video
$(filter $(BUILD)/test/isa/% $(BUILD)/test/random/% $(BUILD)/test/mechanisms/%,$(TEST_OBJ)): TEST_OPT := -O1
$(SWEEPS:%=$(BUILD)/test/isa/exec/%.o): TEST_OPT := -O2
$(TEST_OBJ): OPT := $(if $(SAN),$(OPT),$(or $(TEST_OPT),-O0))
# Tests build the product with an extension (test/toys/build_toy.h), with the flags of this build.
TOY_COMPILE := $(CC) -I. -I$(BUILD) -D_GNU_SOURCE $(VARIANT_DEFINES) $(CPPFLAGS) -std=gnu11 $(ARCH) $(filter -fsanitize% -fno-sanitize%,$(OPT)) -ffp-contract=off
$(BUILD)/test/toys/pipe.o $(BUILD)/test/toys/policies_built.o: MORE_DEFINES += -DTOY_COMPILE='"$(TOY_COMPILE)"' -DTOY_LIBS='"$(LIBS)"'

# Main targets: each installs missing packages, then starts another make, which finds them. Beside a main target, other
# goals wait: two makes at a time would write the same archive.
ifneq ($(and $(word 2,$(MAKECMDGOALS)),$(filter all demo check check-long bench,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
SUBMAKE = $(MAKE) --no-print-directory -j$(JOBS)

demo: deps
	@$(SUBMAKE) build
	@$(BUILD)/heddle bench lud bfs --size small

check:
	@./deps check
	@$(SUBMAKE) build $(BUILD)/check $(BUILD)/no_memory.so
	@HEDDLE_BIN=$(BUILD)/heddle $(BUILD)/check -j$(JOBS) $(SUITES)

check-long:
	@HEDDLE_EVERY=1 $(MAKE) --no-print-directory check

bench:
	@./deps
	@$(SUBMAKE) build $(BUILD)/frontend_speed $(BUILD)/sgemm_speed $(BUILD)/operations_speed $(BUILD)/launches_speed
	@HEDDLE_BIN=$(BUILD)/heddle FRONTEND_SPEED=$(BUILD)/frontend_speed SGEMM_SPEED=$(BUILD)/sgemm_speed OPERATIONS_SPEED=$(BUILD)/operations_speed LAUNCHES_SPEED=$(BUILD)/launches_speed scripts/bench.sh $(SIZE)

validate:
	@./deps
	@$(SUBMAKE) build
	@HEDDLE_BIN=$(BUILD)/heddle scripts/validate.sh

# Reproduces the figures, then runs every program in every model against C code, except combinations that ran already.
EVERY_SET := classic dual-path dual-path-regular subwarp pepsc dac speed
EVERY_MODEL := functional,spe,dpe,dws50,its,si,dac,spe+chain,spe+chain+fold+reduce,spe+stride,spe+ddp
REPRODUCE_RUN = --size $(or $(SIZE),paper) -j $(JOBS) -o build/reproduction/results.db
reproduce:
	@./deps plot
	@$(SUBMAKE) build
	@mkdir -p build/reproduction
	@$(BUILD)/heddle reproduce all $(REPRODUCE_RUN) --to build/reproduction
	@echo 'every program in every model, each against plain C (build/reproduction/every.txt):'
	@$(BUILD)/heddle sweep $(EVERY_SET) -m $(EVERY_MODEL) $(REPRODUCE_RUN) >build/reproduction/every.txt
	@$(BUILD)/heddle sweep $(EVERY_SET) -m pepsc -c pepsc $(REPRODUCE_RUN) >>build/reproduction/every.txt
	@grep ' runs done' build/reproduction/every.txt

format:
	@./deps lint
	clang-format -i $(SOURCES)

docs: deps
	@$(SUBMAKE) build
	@scripts/check_docs.sh $(BUILD)/heddle --update

SOURCES := $(wildcard frontend/*.h $(foreach d,$(LIB_DIRS) host/cuda $(CUDA_DIRS) host/cuda/redirect $(TEST_DIRS) test/harness test/fuzz test/speed scripts/golden,$(d)/*.[ch]))
C_SOURCES := $(filter %.c,$(SOURCES))
# cppcheck does not see where these two names are defined before their files include rows.
CPPCHECK_HIDE = -UROWS_FILE -UDECLARED_OPTIONS

lint:
	@./deps check lint
	@clang-format --dry-run -Werror $(SOURCES) && echo 'lint: format is right'
	@$(SUBMAKE) CC=gcc BUILD=build/lint-gcc OPT=-O1 objects && echo 'lint: gcc has no warnings'
	@$(SUBMAKE) CC=clang BUILD=build/lint-clang OPT=-O1 objects && echo 'lint: clang has no warnings'
	@cppcheck -q -j $(JOBS) $(CPPCHECK_HIDE) --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=scripts/cppcheck.txt -I. -Ibuild/lint-gcc $(filter-out test/%,$(C_SOURCES)) && echo 'lint: cppcheck is content'
	@scripts/check_includes.sh
	@scripts/check_symbols.sh build/lint-gcc
	@scripts/check_circles.sh build/lint-gcc
	@scripts/check_mechanisms.sh
	@scripts/check_exports.sh build/lint-gcc
	@scripts/check_columns.sh
	@scripts/check_english.sh
	@scripts/check_docs.sh build/lint-gcc/heddle

.PHONY: objects
objects: $(LIB_OBJ) $(CMD_OBJ) $(CUDA_OBJ) $(TEST_OBJ) $(BUILD)/heddle $(BUILD)/no_memory.so

# Fuzzing needs clang. SECONDS is the time of each target, TARGETS are the targets.
SECONDS ?= 60
TARGETS ?= parse lower execute timing device launches
FUZZ := build/fuzz
FUZZ_SEEDS := test/cuda test/fuzz/found test/fuzz/seeds test/compiled test/bad test/kernels kernels
fuzz:
	@./deps fuzz
	@$(SUBMAKE) CC=clang BUILD=$(FUZZ) ASSERTS=1 ARCH= OPT='-O1 -fsanitize=fuzzer-no-link$(,)address$(,)undefined -fno-sanitize-recover=undefined' \
		$(FUZZ)/libheddle-internal.a $(FUZZ)/test/fuzz_stages.o $(FUZZ)/test/fuzz_time.o $(FUZZ)/test/every_model.o $(FUZZ)/test/fuzz/mutate.o $(TARGETS:%=$(FUZZ)/test/fuzz/%.o)
	@grep -ohE '[.%]?[a-z][a-z0-9_]+' $(wildcard kernels/*.ptx test/compiled/*.ptx) | sort -u | sed 's/.*/"&"/' > $(FUZZ)/words
	@for t in $(TARGETS); do \
		clang -fsanitize=fuzzer,address,undefined -o $(FUZZ)/fuzz-$$t $(FUZZ)/test/fuzz/$$t.o $(FUZZ)/test/fuzz/mutate.o $(FUZZ)/test/fuzz_stages.o $(FUZZ)/test/fuzz_time.o $(FUZZ)/test/every_model.o \
			$(FUZZ)/libheddle-internal.a $(LIBS) && mkdir -p $(FUZZ)/corpus-$$t && echo "fuzz: $$t for $(SECONDS) s" && \
		$(FUZZ)/fuzz-$$t -max_total_time=$(SECONDS) -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -dict=$(FUZZ)/words \
			-artifact_prefix=$(FUZZ)/$$t- $(FUZZ)/corpus-$$t $(FUZZ_SEEDS) > $(FUZZ)/$$t.log 2>&1; \
		status=$$?; tail -n 12 $(FUZZ)/$$t.log; [ $$status = 0 ] || { echo "fuzz: see $(FUZZ)/$$t.log"; exit 1; }; \
	done

# Makes golden vectors on a real GPU; see scripts/golden/README.md.
golden:
	@scripts/golden/run.sh

# Installs a portable build. `install-built` copies what is built, without checking dependencies.
install:
	@./deps
	@./deps man || echo 'make install: goes on without manual pages of the commands'
	@$(SUBMAKE) PORTABLE=1 build
	@$(SUBMAKE) PORTABLE=1 install-built

# Makes build/heddle-VERSION-MACHINE.tar.gz of a portable build: unpack it anywhere, and run bin/heddle.
# `tarball-built` packs what is built.
.PHONY: tarball tarball-built
TARBALL := heddle-$(SO_VERSION)-$(MACHINE)
tarball:
	@./deps
	@$(SUBMAKE) PORTABLE=1 build
	@$(SUBMAKE) PORTABLE=1 tarball-built

tarball-built:
	@rm -rf build/$(TARBALL)
	@$(SUBMAKE) install-built PREFIX= LIBDIR=/lib DATADIR=/share/heddle DESTDIR=$(CURDIR)/build/$(TARBALL) >/dev/null
	@find build/$(TARBALL) -type f \( -path '*/bin/*' -o -name '*.so*' -o -name '*.a' \) -exec strip -g {} +
	@tar -C build -czf build/$(TARBALL).tar.gz $(TARBALL)
	@rm -rf build/$(TARBALL)
	@echo 'Written: build/$(TARBALL).tar.gz'

TO_BIN := $(DESTDIR)$(PREFIX)/bin
TO_LIB := $(DESTDIR)$(LIBDIR)
TO_CUDA := $(DESTDIR)$(PREFIX)/lib/heddle
TO_INCLUDE := $(DESTDIR)$(PREFIX)/include
TO_DATA := $(DESTDIR)$(DATADIR)
TO_MAN := $(DESTDIR)$(PREFIX)/share/man
TO_BASH := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
TO_ZSH := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
.PHONY: install-built uninstall
install-built:
	install -d $(TO_BIN) $(TO_LIB)/pkgconfig $(TO_CUDA) $(TO_INCLUDE) $(TO_DATA)/kernels $(TO_DATA)/configs $(TO_DATA)/programs $(TO_DATA)/docs $(TO_MAN)/man3
	install -m 755 $(BUILD)/heddle $(TO_BIN)/heddle
	install -m 644 $(BUILD)/libheddle.a $(TO_LIB)/libheddle.a
	install -m 644 $(BUILD)/libheddle.so.$(SO_VERSION) $(TO_LIB)/libheddle.so.$(SO_VERSION)
	ln -sf libheddle.so.$(SO_VERSION) $(TO_LIB)/$(SONAME)
	ln -sf $(SONAME) $(TO_LIB)/libheddle.so
	install -m 644 $(BUILD)/heddle.pc $(TO_LIB)/pkgconfig/heddle.pc
	install -m 755 $(CUDA_CORE) $(CUDA_NAMES:%=$(BUILD)/cuda/%) $(REDIRECT_LIBS) $(TO_CUDA)
	install -d $(TO_CUDA)/nvrtc
	install -m 755 $(NVRTC_LIBS) $(TO_CUDA)/nvrtc
	ln -sfn libcuda.so.1 $(TO_CUDA)/libcuda.so
	install -m 644 host/heddle.h $(TO_INCLUDE)/heddle.h
	install -m 644 kernels/*.ptx $(TO_DATA)/kernels
	install -m 644 benchmarks/*.heddle $(TO_DATA)/programs
	install -m 644 configs/*.cfg $(TO_DATA)/configs
	install -m 644 docs/*.md docs/*.ipynb $(TO_DATA)/docs
	install -m 644 $(BUILD)/man/*.3 $(TO_MAN)/man3
	install -d $(TO_MAN)/man1 $(TO_BASH) $(TO_ZSH)
	@[ -e $(BUILD)/man/heddle.1 ] || echo 'no manual pages of the commands: ./deps man installs help2man, then build again'
	for page in $(BUILD)/man/*.1; do [ ! -e $$page ] || install -m 644 $$page $(TO_MAN)/man1 || exit 1; done
	$(BUILD)/heddle help --bash > $(TO_BASH)/heddle
	$(BUILD)/heddle help --zsh > $(TO_ZSH)/_heddle

uninstall:
	rm -f $(TO_BIN)/heddle $(TO_LIB)/libheddle.a $(TO_LIB)/libheddle.so $(TO_LIB)/$(SONAME) $(TO_LIB)/libheddle.so.$(SO_VERSION)
	rm -f $(TO_LIB)/pkgconfig/heddle.pc $(TO_INCLUDE)/heddle.h $(TO_MAN)/man3/heddle.3 $(TO_MAN)/man3/heddle_*.3 $(TO_MAN)/man3/ptx_run.3
	rm -f $(TO_MAN)/man1/heddle.1 $(TO_MAN)/man1/heddle-*.1 $(TO_BASH)/heddle $(TO_ZSH)/_heddle
	rm -rf $(TO_DATA) $(TO_CUDA)

$(BUILD)/%_speed: $(BUILD)/test/speed/%.o $(BUILD)/libheddle-internal.a
	@$(SAY) '  link    $@'
	$(Q)$(LINK) -o $@ $^ $(LIBS)

clean:
	rm -rf build
-include $(CUDA_OBJ:.o=.d) $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(TEST_OBJ:.o=.d)
