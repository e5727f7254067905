#!/usr/bin/env bash
# make deb: a package that holds what it should, runs when it is unpacked, and
# is the same each time.
set -u
[[ ${HSY_SHORT:-} ]] && { echo "1..0 # SKIP packages the plain build"; exit 0; }
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out
b=${B:-build}

make -s deb CI=1 B="$b" >"$out" 2>&1
ok $? "make deb" "$out"
deb=$(tail -1 "$out")
[[ -f $deb ]] && cp "$deb" "$work/first.deb"
make -s deb CI=1 B="$b" >"$out" 2>&1 && cmp "$deb" "$work/first.deb" >>"$out" 2>&1
ok $? "gives the same package twice" "$out"

dpkg-deb -c "$deb" >"$out" 2>&1
for file in usr/bin/hearsay lib/systemd/system/hearsay.service lib/systemd/system/hearsay.socket lib/systemd/system/hearsay-relay.service lib/systemd/system/hearsay-shuffle.service etc/hearsay/hearsay.yaml usr/share/man/man1/hearsay-serve.1.gz usr/share/man/man1/hearsay-shuffle.1.gz \
    usr/share/man/man5/{tasks,hearsay,policy}.yaml.5.gz usr/share/doc/hearsay/{README.md,SECURITY.md,docs/index.md,docs/mechanisms/rr.md,docs/openapi.yaml,docs/figures/dashboard.png} \
    usr/share/doc/hearsay/copyright usr/share/doc/hearsay/examples/tasks.yaml usr/share/doc/hearsay/examples/nginx/hearsay.conf usr/share/doc/hearsay/examples/prometheus/hearsay.rules.yml \
    usr/share/doc/hearsay/examples/prometheus/hearsay-shuffle.rules.yml usr/share/doc/hearsay/examples/shuffle.yaml \
    usr/share/doc/hearsay/examples/cluster/{hearsay.yaml,roles.sql,pg_hba.conf} usr/share/doc/hearsay/examples/haproxy/hearsay-cluster.cfg usr/share/doc/hearsay/examples/kubernetes/nodes.yaml; do
    grep -q " \./$file\$" "$out"
    ok $? "it holds $file" "$out"
done
! grep -vE '^[-dl][rwx-]+ root/root ' "$out" | grep -q .
ok $? "everything in it is root's" "$out"
! grep -E '^.{5}w|^.{8}w' "$out" | grep -q .
ok $? "and nobody else can write it" "$out"
dpkg-deb -f "$deb" Depends >"$out"
! grep -qE '\(none\)|, ,|^,' "$out" && grep -q libgnutls "$out" && grep -q libsqlite3 "$out"
ok $? "it names what it needs" "$out"
dpkg-deb -e "$deb" "$work/control" && cat "$work/control/conffiles" >"$out" && grep -qx /etc/hearsay/hearsay.yaml "$out"
ok $? "the configuration is the operator's after an upgrade" "$out"
for script in postinst prerm postrm; do
    sh -n "$work/control/$script" >"$out" 2>&1 && [[ -x $work/control/$script ]]
    ok $? "$script is a script" "$out"
done

dpkg -x "$deb" "$work/root" && "$work/root/usr/bin/hearsay" --version >"$out" 2>&1 && grep -q '^hearsay [0-9.]*$' "$out"
ok $? "unpacked it runs" "$out"
(cd "$work/root" && md5sum --quiet -c "$work/control/md5sums") >"$out" 2>&1
ok $? "with the bytes that were packed" "$out"
hearsay=$work/root/usr/bin/hearsay etc=$work/root/etc/hearsay
"$hearsay" tasks keygen -o "$etc/collector" >"$out" 2>&1 &&
    "$hearsay" tasks compile "$work/root/usr/share/doc/hearsay/examples/tasks.yaml" --key "$etc/collector.secret" -o "$etc/tasks.signed" >"$out" 2>&1 &&
    "$hearsay" serve check "$etc/hearsay.yaml" >"$out" 2>&1
ok $? "the configuration it brings is sound once there are tasks" "$out"
doc=$work/root/usr/share/doc/hearsay/examples
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3 -subj /CN=localhost -keyout "$etc/key.pem" -out "$etc/cert.pem" >"$out" 2>&1 &&
    cp "$doc/shuffle.yaml" "$etc/" && "$hearsay" shuffle keys -o "$etc/acme" >"$out" 2>&1 &&
    "$hearsay" shuffle check "$etc/shuffle.yaml" >"$out" 2>&1 && grep -q 'no statement of this shuffler' "$out"
ok $? "so is that of a shuffler, which the example's tasks do not name" "$out"
cp "$etc/collector.public" "$etc/key.public" && install -m 600 /dev/null "$etc/pgpass"
sed "s|@[^/]*/|@127.0.0.1:1/|; s|/etc/hearsay|$etc|g" "$doc/cluster/hearsay.yaml" >"$etc/node.yaml"
! "$hearsay" serve check "$etc/node.yaml" >"$out" 2>&1 && [[ $(wc -l <"$out") == 1 ]] && grep -q 'Connection refused' "$out"
ok $? "that of a node wants its database and nothing else" "$out"
if command -v systemd-analyze >/dev/null; then
    sed "s|/usr/bin/hearsay|$hearsay|" packaging/systemd/hearsay.service >"$work/hearsay.service"
    cp packaging/systemd/hearsay.socket "$work"
    sed "s|/usr/bin/hearsay|$hearsay|" packaging/systemd/hearsay-relay.service >"$work/hearsay-relay.service"
    sed "s|/usr/bin/hearsay|$hearsay|" packaging/systemd/hearsay-shuffle.service >"$work/hearsay-shuffle.service"
    systemd-analyze verify --man=no "$work/hearsay.service" "$work/hearsay.socket" "$work/hearsay-relay.service" "$work/hearsay-shuffle.service" >"$out" 2>&1
    ok $? "systemd finds nothing wrong with the services and the sockets" "$out"
else
    tap_count=$((tap_count + 1))
    echo "ok $tap_count # SKIP no systemd-analyze"
fi
tap_done
