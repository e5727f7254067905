# hearsay: one Makefile, no configure step. `make help` lists the targets.
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX  ?= /usr/local
B       ?= build
SAN     ?=
OPT     ?= $(if $(SAN),-O1,-O2)
WERROR  ?= $(if $(CI),-Werror)
comma   := ,

VERSION := $(shell sed -n 's/^.define HSY_VERSION "\(.*\)"/\1/p' include/hearsay.h)
ABI     := $(shell sed -n 's/^.define HSY_ABI \([0-9]*\).*/\1/p' include/hearsay.h)

# The plain gcc build lands in build/; another compiler, level or sanitizer
# keeps everything in a directory of its own.
VARIANT := $(filter-out gcc,$(notdir $(CC)))$(filter-out $(if $(SAN),-O1,-O2),$(OPT))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
OUT     := $(B)$(if $(VARIANT),/$(VARIANT))
O       := $(OUT)/obj

CPPFLAGS += -Iinclude -Isrc
CFLAGS   += -std=c11 $(OPT) -g$(if $(SAN),1) -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
            -Wstrict-prototypes -Wmissing-prototypes -Wvla -ffp-contract=off \
            -fvisibility=hidden -fPIC '-ffile-prefix-map=$(CURDIR)=.' $(WERROR)
LDFLAGS  += -Wl,-z,relro,-z,now,-z,noexecstack
ifeq ($(SAN),)
CPPFLAGS += -D_FORTIFY_SOURCE=2
CFLAGS   += -fstack-protector-strong -fstack-clash-protection -fcf-protection
else
CFLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# libhearsay: the freestanding rooms, inference, and the kernel's randomness.
LIB_SRC := $(filter-out %_small.c,$(sort $(wildcard src/lib/*/*.c)))
# libhearsay-host: files, formats, task files, signatures, the world of a device.
HOST_SRC := $(sort $(wildcard src/host/*/*.c))
HOST_LIBS := -lcyaml -lyaml -lsodium -ljansson -lnettle -lz
# What the command and its collector stand on besides.
MID_LIBS := -lmicrohttpd -lgnutls -lsqlite3 -lseccomp
# What stands between the library and the command; tests may link it too.
MID_SRC := $(HOST_SRC) $(sort $(wildcard $(addprefix src/,server/*/*.c server/*/*/*.c sim/*/*.c audit/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c src/cli/*/*.c src/bench/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o)
MID_OBJ := $(MID_SRC:%.c=$(O)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(O)/%.o)
LIB     := $(OUT)/libhearsay.a
SO      := $(OUT)/libhearsay.so
HOST_OBJ := $(HOST_SRC:%.c=$(O)/%.o)
HOST_LIB := $(OUT)/libhearsay-host.a
HOST_SO  := $(OUT)/libhearsay-host.so
ZOO_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/attack/zoo/*.c)))

C_TESTS := $(sort $(wildcard $(addprefix tests/,unit/*/*/test_*.c unit/*/*/*/test_*.c vectors/test_*.c exact/test_*.c stat/test_*.c attack/test_*.c)))
TESTS   := $(C_TESTS:%.c=$(OUT)/%)
UNIT    := $(filter $(OUT)/tests/unit/%,$(TESTS))
# What runs under MemorySanitizer: tests of core and mech, which call nothing
# but libc; so not these, which use what stands above.
ABOVE   := \
    test_accuracy \
    test_associate \
    test_attend \
    test_client \
    test_compose \
    test_config \
    test_container \
    test_container_json \
    test_decode \
    test_desk \
    test_difference \
    test_engine \
    test_engine_clock \
    test_engine_once \
    test_engine_retire \
    test_engine_tallies \
    test_entropy \
    test_few \
    test_figures \
    test_fleet \
    test_golden \
    test_history \
    test_ids \
    test_ids_scale \
    test_intake \
    test_interval \
    test_listen \
    test_listen_bodies \
    test_listen_crowd \
    test_listen_gone \
    test_listen_readers \
    test_lives \
    test_log \
    test_longitudinal \
    test_metrics \
    test_output \
    test_plan \
    test_plausible \
    test_plot \
    test_poison \
    test_portions \
    test_post \
    test_pulse \
    test_puzzle \
    test_rappor_dialect \
    test_rappor_files \
    test_reach \
    test_rest \
    test_roster \
    test_runs \
    test_runs_tail \
    test_sandbox \
    test_search \
    test_shown \
    test_shuffle \
    test_sign \
    test_special \
    test_store \
    test_store_alone \
    test_store_faults \
    test_store_doubts \
    test_store_pages \
    test_store_runs \
    test_store_tail \
    test_store_whole \
    test_study \
    test_survey \
    test_tasks \
    test_tokens \
    test_watch_moving \
    test_workers \
    test_world \
    test_yaml
MSAN    := $(filter-out $(addprefix %/,$(ABOVE)),$(UNIT))
REPLAYS := $(patsubst tests/fuzz/%.c,$(OUT)/tests/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

.PHONY: all help tests unit msan replays check soak coverage crash simulate ctime fuzz mutants bench load lint format \
        amalgamation client install uninstall deb dist repro clean
.DELETE_ON_ERROR:
.SECONDARY: # keep the objects of tests
all: $(OUT)/hearsay $(LIB) $(SO) $(HOST_LIB) $(HOST_SO)

help:
	@sed -n 's/^#: //p' Makefile

#: all           the command, libhearsay and libhearsay-host, in build/
#: check         every test that CI runs
#: install       into PREFIX (/usr/local), DESTDIR honoured
#: amalgamation  the library as one hearsay.c and hearsay.h
#: client        the device's part alone, as one small object
#: bench         speed of the kernels against this machine's limits
#: load          what a collector takes over HTTP, beside nginx
#: lint          layers, exported symbols, banned functions, format, man pages
#: format        clang-format over the tree
#: coverage      how often every kind of interval holds, at full size, ONLY=KIND
#: soak          statistical tests with fresh, printed seeds; 25 hours of a
#:               collector's life in TIME=7200 seconds
#: crash         kills, full disks and failing calls at full size, TIME=seconds
#: mutants       the zoo of other people's bugs, each of which must be caught
#: simulate      collectors from seeds, SEEDS=1000 of them from FIRST=1 on
#: ctime         constant time under valgrind, all compilers and levels
#: fuzz          libFuzzer on every parser, TIME=60 seconds each
#: repro         two builds in two places, the same bits
#: deb           a Debian package with the collector's service, in build/
#: dist          a source archive
#: clean         remove build/

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -c $< -o $@

# The dashboard is inside the program.
$(O)/src/server/collector/api/assets.o: $(wildcard web/* web/vendor/*)

$(LIB): $(LIB_OBJ)
	rm -f $@ && $(AR) rcsD $@ $^

$(SO): $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libhearsay.so.$(ABI) $^ -lm -o $@.$(ABI)
	ln -sf libhearsay.so.$(ABI) $@

$(HOST_LIB): $(HOST_OBJ)
	rm -f $@ && $(AR) rcsD $@ $^

$(HOST_SO): $(HOST_OBJ) $(SO)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libhearsay-host.so.$(ABI) $(HOST_OBJ) $(SO) $(HOST_LIBS) -o $@.$(ABI)
	ln -sf libhearsay-host.so.$(ABI) $@

$(OUT)/hearsay: $(CLI_OBJ) $(MID_OBJ) $(LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -pie $^ $(HOST_LIBS) $(MID_LIBS) -lm -pthread -o $@

# The rooms above the library, as an archive: a test links what it uses. Under
# MemorySanitizer there are no tests above the host.
$(O)/rooms.a: $(if $(filter memory,$(SAN)),$(filter $(O)/src/host/%,$(MID_OBJ)),$(MID_OBJ) $(filter-out %/main.o,$(CLI_OBJ)))
	rm -f $@ && $(AR) rcsD $@ $^

$(addprefix $(OUT)/tests/attack/,test_zoo test_zoo_device test_contexts test_simulate test_answers): $(ZOO_OBJ)
$(OUT)/tests/%: $(O)/tests/%.o $(O)/rooms.a $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(O)/rooms.a $(LIB) $(HOST_LIBS) $(MID_LIBS) -lgmp -lm -pthread -o $@

# What valgrind watches needs no room above libhearsay-host.
$(OUT)/tests/ctime/%: $(O)/tests/ctime/%.o $(HOST_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(HOST_LIBS) -lm -o $@

$(REPLAYS): $(OUT)/tests/fuzz/%: $(O)/tests/fuzz/replay.o

tests: all $(TESTS)
unit: $(UNIT)
msan: $(MSAN)
replays: $(REPLAYS)

check:
	./check
soak: tests
	tools/soak $(OUT)
	HEARSAY=$(OUT)/hearsay tests/load/soak.py $(or $(TIME),7200)
coverage: $(OUT)/tests/stat/test_coverage
	HSY_TEST_LONG=1 $< --table $(ONLY)
crash: tests
	tools/crash $(OUT) $(TIME)
mutants: $(addprefix $(OUT)/tests/attack/,test_zoo test_zoo_device test_simulate test_answers)
	prove -e '' $^
simulate: $(OUT)/tests/attack/test_simulate
	$< $(or $(FIRST),1) $(or $(SEEDS),1000)
bench: all
	$(OUT)/hearsay bench
load: all
	HEARSAY=$(OUT)/hearsay tests/load/load.py
ctime:
	B=$(B) CTIME_FULL=1 prove tests/ctime
fuzz:
	B=$(B) tools/fuzz $(or $(TIME),60)
lint: all
	tools/lint $(OUT)
repro:
	prove tests/build/repro.t

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

# The client alone, as one object without what estimates: for a device with
# little room. The *_small.c stand in for tables that name everything.
CLIENT_SRC  := $(filter-out %_x86.c %/kernels.c %/table.c %/auto.c %/tuple.c %/smp.c %/joint.c %/stage.c %/stage_plan.c %/entropy.c,$(sort $(wildcard $(addprefix src/lib/,kernels/*.c core/*.c scheme/*.c family/*.c mech/*.c device/*.c))))
CLIENT_OBJ  := $(CLIENT_SRC:%.c=$(O)/client/%.o)
CLIENT_KEEP := $(addprefix -u ,$(shell awk -F'\050' '/^HSY_API/ {n = split($$1, w, /[ *]/); print w[n]}' include/hearsay.h | grep -E '^hsy_(device|release|document_(open|task))'))
$(O)/client/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(filter-out -D_FORTIFY%,$(CPPFLAGS)) -DHSY_CLIENT -Wno-unused-function $(filter-out -O% -fPIC -fstack% -fcf%,$(CFLAGS)) -Os -fno-tree-dominator-opts -fno-inline-small-functions -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -MMD -MP -c $< -o $@

client: $(OUT)/hearsay-client.o
$(OUT)/hearsay-client.o: $(CLIENT_OBJ)
	$(LD) -r --gc-sections $(CLIENT_KEEP) -o $@ $(sort $^)

amalgamation: $(OUT)/amalgamation/hearsay.c
$(OUT)/amalgamation/hearsay.c: $(LIB_SRC) $(wildcard include/*.h src/*/*.h src/*/*/*.h) tools/amalgamate
	@mkdir -p $(@D)
	cp include/hearsay.h $(@D)/
	tools/amalgamate $(LIB_SRC) >$@

DEST := $(DESTDIR)$(PREFIX)
install: all
	install -d $(DEST)/bin $(DEST)/include $(DEST)/lib/pkgconfig \
	    $(DEST)/share/man/man1 $(DEST)/share/man/man3 \
	    $(DEST)/share/bash-completion/completions
	install $(OUT)/hearsay $(DEST)/bin/
	install -m 644 include/hearsay.h include/hearsay_host.h $(DEST)/include/
	install -m 644 $(LIB) $(HOST_LIB) $(DEST)/lib/
	install $(SO).$(ABI) $(HOST_SO).$(ABI) $(DEST)/lib/
	ln -sf libhearsay.so.$(ABI) $(DEST)/lib/libhearsay.so
	ln -sf libhearsay-host.so.$(ABI) $(DEST)/lib/libhearsay-host.so
	for pc in hearsay hearsay-host; do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
	        packaging/$$pc.pc.in >$(DEST)/lib/pkgconfig/$$pc.pc || exit 1; done
	install -m 644 docs/man/*.1 $(DEST)/share/man/man1/
	install -m 644 docs/man/*.3 $(DEST)/share/man/man3/
	install -m 644 packaging/completion/hearsay.bash \
	    $(DEST)/share/bash-completion/completions/hearsay

uninstall:
	rm -f $(DEST)/bin/hearsay $(DEST)/include/hearsay.h $(DEST)/include/hearsay_host.h \
	    $(DEST)/lib/libhearsay.* $(DEST)/lib/libhearsay-host.* $(DEST)/lib/pkgconfig/hearsay.pc \
	    $(DEST)/lib/pkgconfig/hearsay-host.pc $(DEST)/share/man/man1/hearsay*.1 \
	    $(DEST)/share/man/man3/libhearsay.3 $(DEST)/share/man/man3/libhearsay-host.3 \
	    $(DEST)/share/bash-completion/completions/hearsay

deb: all
	rm -rf $(OUT)/deb
	$(MAKE) -s install DESTDIR=$(abspath $(OUT))/deb PREFIX=/usr
	packaging/debian/build $(OUT)/deb $(OUT)

dist:
	@mkdir -p $(B)
	git archive --prefix=hearsay-$(VERSION)/ HEAD | gzip -n >$(B)/hearsay-$(VERSION).tar.gz

clean:
	rm -rf $(B)

-include $(CLIENT_OBJ:.o=.d) $(LIB_OBJ:.o=.d) $(MID_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(ZOO_OBJ:.o=.d) $(C_TESTS:%.c=$(O)/%.d) $(wildcard $(O)/tests/fuzz/*.d)
