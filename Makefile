# make bench   what encryption costs, on this machine, in about three minutes
# make test    every test, real servers included

GO      ?= go
BIN      = bin/veildb

.PHONY: all bench build test test-clients test-deps test-gate-soak test-lineage \
        test-mysql test-tools test-volume lint vuln bench-crypto clean

all: build

build:
	@mkdir -p bin
	$(GO) build -trimpath -o $(BIN) ./cmd/veildb

bench: build
	@./$(BIN) bench

test: test-deps lint vuln
	$(GO) test -timeout 15m ./...
	$(GO) test -race -timeout 15m $(RACE)
	$(GO) test -race -timeout 10m -tags $(TAGS) ./internal/keys/kms
	sh scripts/test-arm64.sh

# Providers that the default build leaves out: large clients, or cgo.
TAGS = cloudkms,pkcs11

# Packages whose concurrency matters, run again under the race detector.
RACE = ./internal/crypto/... ./internal/disk/... ./internal/keys/keyring/... \
       ./internal/atrest/volume/... ./internal/atrest/fusefs/... ./internal/atrest/rekey/... \
       ./internal/sql/... ./internal/inuse/... \
       ./internal/bench/hist/... ./internal/bench/run/... ./internal/bench/study/...

test-deps:
	@sh scripts/test-deps.sh

lint:
	sh scripts/lint.sh

vuln:
	sh scripts/vuln.sh

# Real programs through a gate and a sidecar; fetches their drivers. SERVER=mysql
# has MySQL behind the gate in MariaDB's place.
test-clients:
	sh scripts/test-clients.sh $(or $(SERVER),$(FLAVOUR))

# What is said of MySQL, against MySQL itself; see docs/gate.md.
test-mysql:
	sh scripts/fetch-mysql.sh
	$(GO) test -tags mysqlserver ./internal/inuse/gate \
	  -run 'TestMySQL|TestDifferential$$|TestFullIsUntouched|TestTypes' -v

# Dumps, mappers and migrations through a gate; fetches them. SERVER=mysql: on MySQL.
test-tools:
	sh scripts/test-tools.sh $(or $(SERVER),$(FLAVOUR))

# How long runs go on is in docs/gate.md, confidential-sql.md and volume-tests.md.
test-gate-soak:
	$(GO) test ./internal/inuse/gate -run 'TestSoak$$|TestChurn$$' -soak $(or $(SOAK),30m) -timeout 2h -v

test-lineage:
	sh scripts/test-lineage.sh

test-volume:
	sh scripts/test-volume.sh $(VOLUME)

bench-crypto:
	sh scripts/bench-crypto.sh

clean:
	rm -rf bin
