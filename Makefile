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

VERSION := $(shell sed -n 's/^.define HSY_VERSION "\(.*\)"/\1/p' include/hearsay/base.h)
ABI     := $(shell sed -n 's/^.define HSY_ABI \([0-9]*\).*/\1/p' include/hearsay/base.h)

# The plain gcc build lands in build/; another compiler, level or sanitizer
# keeps everything in a directory of its own.
VARIANT := $(filter-out gcc,$(notdir $(CC)))$(filter-out $(if $(SAN),-O1,-O2),$(OPT))
VARIANT := $(VARIANT)$(if $(SAN),-$(subst $(comma),-,$(SAN)))
OUT     := $(B)$(if $(VARIANT),/$(VARIANT))
O       := $(OUT)/obj

CPPFLAGS += -Iinclude -Isrc -DHSY_UNSTABLE
CFLAGS   += -std=c11 $(OPT) -g$(if $(SAN),1) -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
            -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-enum-float-conversion -ffp-contract=off \
            -fvisibility=hidden -fPIC '-ffile-prefix-map=$(CURDIR)=.' $(WERROR)
LDFLAGS  += -Wl,-z,relro,-z,now,-z,noexecstack
ifeq ($(SAN),)
CPPFLAGS += -D_FORTIFY_SOURCE=2
CFLAGS   += -fstack-protector-strong -fstack-clash-protection -fcf-protection
else
CFLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# A room is a folder of src; what each needs of the system besides the others.
ROOMS   := $(filter-out lib host,$(patsubst src/%/,%,$(wildcard src/*/)))
LIBS_lib    := -lm
LIBS_host   := -lyaml -lsodium -ljansson -lnettle
LIBS_server := -lgnutls -lsqlite3 -lseccomp
sources  = $(filter-out %_small.c,$(sort $(wildcard $(addprefix $(1)/,*.c */*.c */*/*.c))))
objects  = $(patsubst %.c,$(O)/%.o,$(call sources,$(1)))
folders  = $(patsubst %/,%,$(wildcard $(addprefix $(1)/,. */ */*/)))

# libhearsay and libhearsay-host are rooms with an archive in $(OUT); the others
# have theirs beside their objects.
LIB_SRC  := $(call sources,src/lib)
LIB_OBJ  := $(call objects,src/lib)
HOST_OBJ := $(call objects,src/host)
CLI_OBJ  := $(foreach room,$(ROOMS),$(call objects,src/$(room)))
LIB      := $(OUT)/libhearsay.a
SO       := $(OUT)/libhearsay.so
HOST_LIB := $(OUT)/libhearsay-host.a
HOST_SO  := $(OUT)/libhearsay-host.so
ROOM_lib  := $(LIB)
ROOM_host := $(HOST_LIB)
$(foreach room,$(ROOMS),$(eval ROOM_$(room) := $(O)/src/$(room).a))

# The modules that a device runs, with what reads its texts.
DEVICE_DIR  := $(addprefix src/lib/,kernels core scheme family mech device)
DEVICE_OBJ  := $(foreach dir,$(DEVICE_DIR),$(call objects,$(dir))) $(O)/src/host/client/answer_text.o
ROOM_device := $(O)/device.a
LIBS_device := $(LIBS_lib)

C_TESTS := $(sort $(wildcard $(addprefix tests/, \
               unit/*/*/test_*.c unit/*/*/*/test_*.c vectors/test_*.c exact/test_*.c stat/test_*.c attack/test_*.c)))
TESTS   := $(C_TESTS:%.c=$(OUT)/%)
UNIT    := $(filter $(OUT)/tests/unit/%,$(TESTS))
REPLAYS := $(patsubst %.c,$(OUT)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# Scripts that ask for no other compiler.
SCRIPTS  = $(shell grep -L 'clang[^-]' $(addprefix tests/,build/*.t e2e/*.t exact/*.t fault/*.t vectors/*.t))
JOBS    := $(shell nproc)
PROVE   := HEARSAY=$(OUT)/hearsay B=$(B) LC_ALL=C.UTF-8 prove -f -e ''

.PHONY: all help t quick test test-long tests unit msan replays check soak coverage crash crash-cluster simulate ctime fuzz mutants bench \
        load load-cluster lint format amalgamation client install uninstall deb image image-check site site-check dist distro repro clean
.DELETE_ON_ERROR:
.SECONDARY: # keep the objects of tests
.DEFAULT_GOAL := $(if $(t),t,all)
all: $(OUT)/hearsay $(LIB) $(SO) $(HOST_LIB) $(HOST_SO)

help:
	@sed -n 's/^#: //p' Makefile

#: all           the command, libhearsay and libhearsay-host, in build/
#: t=NAME        build and run the tests of that name, e.g. make t=rr
#: quick         build and run the unit and exact tests of what changed since the
#:               last quick that passed; layers; half a minute
#: test          build and run every test that needs one compiler, no root, no network
#: check         every test that CI runs, with both compilers and their sanitizers
#: test-long     whole forms of tests of which ./check runs a sample: each allocation
#:               fails, all unit tests with the amalgamation, more scripts sanitized,
#:               10^8 heads of HTTP against its grammar,
#:               the library's unit tests with MemorySanitizer
#: tests         build the tests, run none; unit, msan, replays: some of them
#: install       into PREFIX (/usr/local), DESTDIR honoured
#: amalgamation  the library as one hearsay.c and hearsay.h
#: client        the device's part alone, as one small object
#: bench         speed of the kernels against this machine's limits
#: load          what a collector takes over HTTP, beside nginx
#: load-cluster  what collectors on PostgreSQL take and cost, beside both
#: lint          layers, exported symbols, banned functions, citations, format, man pages
#: format        clang-format over the tree
#: coverage      how often every kind of interval holds, at full size, ONLY=KIND
#: soak          statistical tests with fresh, printed seeds; 25 hours of a
#:               collector's life in TIME=7200 seconds
#: crash-cluster primaries lost under Patroni, ROUNDS=100, TIME=seconds
#: crash         kills, full disks and failing calls at full size, TIME=seconds
#: mutants       the zoo of other people's bugs, each of which must be caught
#: simulate      collectors from seeds, SEEDS=1000 of them from FIRST=1 on
#: ctime         constant time under valgrind, all compilers and levels
#: fuzz          libFuzzer on every parser, TIME=60 seconds each
#: repro         two builds in two places, the same bits
#: deb           a Debian package with the collector's service, in build/
#: image         an OCI image of the collector, in build/; as root
#: image-check   the same, started and tried
#: site          docs, manual pages and the HTTP interface as a website, in build/
#: site-check    the same, walked by a browser
#: dist          a source archive
#: distro        both commands of the README in a new root of SUITE=trixie; as root
#: clean         remove build/

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -c $< -o $@

# The dashboard is inside the program: all files of web but the recorded page.
ASSETS := $(sort $(wildcard web/*.* web/vendor/*.*))
asset   = A($(subst .,_,$(notdir $(1))),$(patsubst %/index.html,/,/assets/$(notdir $(1))),$(1))
$(O)/src/server/collector/api/api_page.o: CPPFLAGS += '-DASSETS(A)=$(foreach file,$(ASSETS),$(call asset,$(file)))'
$(O)/src/server/collector/api/api_page.o: $(ASSETS) web web/vendor

# A folder as an archive. The folders themselves are among what it is made of:
# a file that has left one leaves the archive.
.SECONDEXPANSION:
archive = rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^)
$(LIB): $(LIB_OBJ) $(call folders,src/lib)
	$(archive)
$(HOST_LIB): $(HOST_OBJ) $(call folders,src/host)
	$(archive)
$(ROOM_device): $(DEVICE_OBJ) $(DEVICE_DIR)
	$(archive)
$(O)/%.a: $$(filter-out %/main.o,$$(call objects,$$*)) $$(call folders,$$*)
	$(archive)

$(SO): $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libhearsay.so.$(ABI) $^ $(LIBS_lib) -o $@.$(ABI)
	ln -sf libhearsay.so.$(ABI) $@

$(HOST_SO): $(HOST_OBJ) $(SO)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libhearsay-host.so.$(ABI) $^ $(LIBS_host) -o $@.$(ABI)
	ln -sf libhearsay-host.so.$(ABI) $@

$(OUT)/hearsay: $(CLI_OBJ) $(HOST_OBJ) $(LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -pie $^ $(LIBS_host) $(LIBS_server) $(LIBS_lib) -pthread -o $@

# The same with tables of a version that is to come (src/server/cluster/schema.h).
SCHEMA := $(O)/src/server/cluster/schema.o
$(O)/tests/e2e/schema_trial.o: src/server/cluster/schema.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -DSCHEMA_TRIAL=1 $(CFLAGS) -MMD -MP -c $< -o $@
$(OUT)/tests/hearsay-trial: $(filter-out $(SCHEMA),$(CLI_OBJ)) $(O)/tests/e2e/schema_trial.o $(HOST_OBJ) $(LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -pie $^ $(LIBS_host) $(LIBS_server) $(LIBS_lib) -pthread -o $@
# Not installed: it measures the hearsay beside it.
$(OUT)/hearsay-bench: $(call objects,tests/bench) $(HOST_LIB) $(LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -pie $^ $(LIBS_host) $(LIBS_lib) -pthread -o $@

# A test is linked with the rooms whose headers it includes and with what these
# may see by tools/layers. MemorySanitizer wants all but libc to be its own: it
# runs the unit tests that need nothing else.
ifneq ($(t)$(filter t quick test test-long tests unit msan replays soak coverage crash mutants simulate $(OUT)/tests/%, \
           $(MAKECMDGOALS)),)
$(O)/links.mk: tools/pick tools/layers $(C_TESTS) $(wildcard tests/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch]) \
               $(call folders,tests) $(call folders,tests/unit)
	@mkdir -p $(@D)
	tools/pick links >$@
include $(O)/links.mk
endif
$(OUT)/tests/%: $(O)/tests/%.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(LDLIBS) -pthread -o $@
$(REPLAYS): $(O)/tests/fuzz/replay.o $(O)/tests/tap.o

tests: all $(TESTS) $(OUT)/tests/hearsay-trial $(OUT)/hearsay-bench
unit: $(UNIT)
msan: $(ALONE:%=$(OUT)/%)
replays: $(REPLAYS)

# Scripts want the command.
PICKED := $(if $(t),$(shell tools/pick name $(t)))
t: $(patsubst %.c,$(OUT)/%,$(filter %.c,$(PICKED))) $(if $(filter %.t,$(PICKED)),all $(OUT)/hearsay-bench)
	@$(if $(PICKED),$(PROVE) $(patsubst %.c,$(OUT)/%,$(PICKED)),exit 2)
quick:
	@mkdir -p $(OUT)
	@tools/lint-layers
	@tools/pick now >$(OUT)/quick.now
	@tools/pick changed $(OUT)/quick.last >$(OUT)/quick.tests
	@set -- $$(sed 's|\(.*\)\.c$$|$(OUT)/\1|' $(OUT)/quick.tests); test $$# = 0 || \
	    { $(MAKE) -s -j$(JOBS) $$@ && $(PROVE) -j$(JOBS) $$@; }
	@mv $(OUT)/quick.now $(OUT)/quick.last
test: tests
	npm_config_offline=true $(PROVE) -j$(JOBS) $(TESTS) $(SCRIPTS)
# What ./check takes a sample of.
test-long: tests
	HSY_TEST_LONG=1 $(PROVE) $(addprefix tests/,fault/alloc.t build/amalgamation.t build/sanitized.t build/repro.t) \
	    $(addprefix $(OUT)/tests/unit/,host/tasks/test_task_model host/format/test_container server/http/test_message_seeds)
	$(MAKE) -s -j$(JOBS) CC=clang SAN=memory msan
	prove -Q -e '' -j$(JOBS) $$(find $(B)/clang-memory/tests/unit -name 'test_*')
check:
	./check
soak: tests
	tools/soak $(OUT)
	HEARSAY=$(OUT)/hearsay tests/load/soak.py $(or $(TIME),7200)
coverage: $(OUT)/tests/stat/test_coverage
	HSY_TEST_LONG=1 $< --table $(ONLY)
crash: tests
	tools/crash $(OUT) $(TIME)
crash-cluster: all
	HEARSAY=$(OUT)/hearsay tests/load/crash_cluster.py --rounds $(or $(ROUNDS),100) $(if $(TIME),--seconds $(TIME))
mutants: $(addprefix $(OUT)/tests/attack/,test_zoo test_zoo_device test_zoo_shuffle test_zoo_sealed test_simulate test_simulate_many \
               test_answers) $(OUT)/tests/unit/server/shuffle/test_terms
	prove -e '' $^
simulate: $(addprefix $(OUT)/tests/attack/,test_simulate test_simulate_many)
	set -e; for t in $^; do $$t $(or $(FIRST),1) $(or $(SEEDS),1000); done
bench: all $(OUT)/hearsay-bench
	$(OUT)/hearsay-bench
load: all $(OUT)/hearsay-bench
	tools/packages load
	HEARSAY=$(OUT)/hearsay tests/load/load.py
load-cluster: all
	HEARSAY=$(OUT)/hearsay tests/load/load_cluster.py
ctime:
	B=$(B) CTIME_FULL=1 prove tests/ctime
fuzz:
	B=$(B) tools/fuzz $(or $(TIME),60)
lint: all
	tools/lint $(OUT)
repro:
	HSY_TEST_LONG=1 prove tests/build/repro.t

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

# The client alone, as one object without what estimates: for a device with
# little room. The *_small.c stand in for tables that name everything.
CLIENT_SRC  := $(sort $(wildcard $(addsuffix /*.c,$(DEVICE_DIR))))
CLIENT_OUT  := kernels known_answers table auto tuple smp joint stage stage_plan entropy parties statement shuffled
CLIENT_OBJ  := $(patsubst %.c,$(O)/client/%.o,$(filter-out %_x86.c %_avx2.c %_avx512.c $(addprefix %/,$(CLIENT_OUT:=.c)),$(CLIENT_SRC)))
CLIENT_KEEP := $(addprefix -u ,$(shell \
    awk -F'\050' '/^HSY_API/ {n = split($$1, w, /[ *]/); print w[n]}' include/hearsay/device.h | \
    grep -E '^hsy_(device|release|document_(open|task))'))
CLIENT_FLAGS = $(filter-out -D_FORTIFY%,$(CPPFLAGS)) -DHSY_CLIENT $(filter-out -O% -fPIC -fstack% -fcf%,$(CFLAGS)) \
               -Wno-unused-function -Oz -fno-asynchronous-unwind-tables \
               -ffunction-sections -fdata-sections
$(O)/client/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CLIENT_FLAGS) -MMD -MP -c $< -o $@

client: $(OUT)/hearsay-client.o
$(OUT)/hearsay-client.o: $(CLIENT_OBJ)
	$(LD) -r --gc-sections $(CLIENT_KEEP) -o $@ $(sort $^)

amalgamation: $(OUT)/amalgamation/hearsay.c
$(OUT)/amalgamation/hearsay.c: $(LIB_SRC) $(wildcard include/*.h include/*/*.h src/*/*.h src/*/*/*.h) tools/amalgamate
	@mkdir -p $(@D)
	tools/amalgamate --header >$(@D)/hearsay.h
	tools/amalgamate $(LIB_SRC) >$@

DEST := $(DESTDIR)$(PREFIX)
install: all
	install -d $(DEST)/bin $(DEST)/include/hearsay $(DEST)/lib/pkgconfig \
	    $(DEST)/share/man/man1 $(DEST)/share/man/man3 $(DEST)/share/man/man5 \
	    $(DEST)/share/bash-completion/completions
	install $(OUT)/hearsay $(DEST)/bin/
	install -m 644 include/hearsay.h $(DEST)/include/
	install -m 644 include/hearsay/*.h $(DEST)/include/hearsay/
	install -m 644 $(LIB) $(HOST_LIB) $(DEST)/lib/
	install $(SO).$(ABI) $(HOST_SO).$(ABI) $(DEST)/lib/
	ln -sf libhearsay.so.$(ABI) $(DEST)/lib/libhearsay.so
	ln -sf libhearsay-host.so.$(ABI) $(DEST)/lib/libhearsay-host.so
	for pc in hearsay hearsay-host; do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
	        packaging/$$pc.pc.in >$(DEST)/lib/pkgconfig/$$pc.pc || exit 1; done
	install -m 644 docs/man/*.1 $(DEST)/share/man/man1/
	install -m 644 docs/man/*.3 $(DEST)/share/man/man3/
	install -m 644 docs/man/*.5 $(DEST)/share/man/man5/
	install -m 644 packaging/completion/hearsay.bash \
	    $(DEST)/share/bash-completion/completions/hearsay

uninstall:
	rm -f $(DEST)/bin/hearsay $(DEST)/include/hearsay.h $(DEST)/include/hearsay/*.h \
	    $(DEST)/lib/libhearsay.* $(DEST)/lib/libhearsay-host.* $(DEST)/lib/pkgconfig/hearsay.pc \
	    $(DEST)/lib/pkgconfig/hearsay-host.pc $(DEST)/share/man/man1/hearsay*.1 \
	    $(DEST)/share/man/man3/libhearsay*.3 $(DEST)/share/man/man3/hearsay_*.3 \
	    $(addprefix $(DEST)/share/man/man5/,hearsay.yaml.5 policy.yaml.5 tasks.yaml.5) \
	    $(DEST)/share/bash-completion/completions/hearsay

deb: all
	rm -rf $(OUT)/deb
	$(MAKE) -s install DESTDIR=$(abspath $(OUT))/deb PREFIX=/usr
	packaging/debian/build $(OUT)/deb $(OUT)

image: deb
	packaging/image/build $(OUT)/hearsay_$(VERSION)-1_$$(dpkg --print-architecture).deb $(OUT)
image-check: image
	IMAGE=$(OUT)/hearsay-$(VERSION)-oci.tar $(PROVE) tests/image/image.t

site:
	tools/packages site
	tools/site $(OUT)/site
	@echo "site: $(OUT)/site/html/index.html; to search it: python3 -m http.server -d $(OUT)/site/html"
site-check: site
	tools/packages test
	SITE=$(abspath $(OUT))/site/html $(PROVE) tests/browser/site.t

dist:
	@mkdir -p $(B)
	git archive --prefix=hearsay-$(VERSION)/ HEAD | gzip -n >$(B)/hearsay-$(VERSION).tar.gz

distro:
	tools/distro $(or $(SUITE),$(error SUITE is not set: make distro SUITE=trixie))

clean:
	rm -rf $(B)

-include $(CLIENT_OBJ:.o=.d) $(LIB_OBJ:.o=.d) $(HOST_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(BENCH_OBJ:.o=.d) \
    $(patsubst %.c,$(O)/%.d,$(wildcard tests/*.c tests/*/*.c tests/*/*/*.c) $(C_TESTS))
