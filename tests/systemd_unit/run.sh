#!/bin/bash
# Runs deploy/picomem.service and the backup under a real systemd: `make unit`, as root on Linux with systemd installed.
#
# systemd is process 1 of namespaces of its own, on a copy of this system that is kept in memory (an overlay of /), without
# a network but for its own loopback. Nothing of the machine's systemd is touched. The wheel is installed in that copy.
set -euo pipefail

wheel=$(realpath "$1")
deploy=$(realpath "$(dirname "$0")/../../deploy")
folder=$(mktemp -d)
init=""

finish() {
    [ -z "$init" ] || kill -9 "$init" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

cat > "$folder/enter.sh" <<'ENTER'
set -euo pipefail
folder=$1 wheel=$2 deploy=$3 root=$1/root
mount --make-rprivate /
mkdir -p "$folder/memory" "$root"
mount -t tmpfs -o size=3g tmpfs "$folder/memory"
mkdir "$folder/memory/upper" "$folder/memory/work"
mount -t overlay -o "lowerdir=/,upperdir=$folder/memory/upper,workdir=$folder/memory/work" overlay "$root"
mkdir -p "$root/wheel" "$root/old"
cp "$wheel" "$root/wheel/"
cp "$deploy"/picomem* "$root/etc/systemd/system/"
for unit in systemd-udevd systemd-networkd systemd-resolved systemd-timesyncd; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
: > "$root/etc/machine-id"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
for place in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$place"; done
chmod 1777 "$root/tmp"
for device in null zero full random urandom tty; do
    : > "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
chroot "$root" /usr/bin/python3 -m venv /opt/picomem
chroot "$root" /opt/picomem/bin/pip install --quiet "/wheel/$(basename "$wheel")[server]"
cd "$root"
pivot_root . old
umount -l /old
exec env -i container=picomem-unit PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --net \
    /lib/systemd/systemd --system --unit=multi-user.target --log-target=journal --show-status=no
ENTER

unshare --mount --pid --fork --kill-child --uts --ipc --cgroup \
    bash "$folder/enter.sh" "$folder" "$wheel" "$deploy" > "$folder/log" 2>&1 &
outer=$!
echo "picomem is installed in a copy of this system, and systemd started"
for _ in $(seq 180); do
    init=$(pgrep --parent "$outer" || true)
    [ "$(cat "/proc/${init:-none}/comm" 2>/dev/null)" = systemd ] && break
    kill -0 "$outer" 2>/dev/null || { cat "$folder/log"; exit 1; }
    sleep 1
done

inside() { nsenter --target "$init" --mount --pid --uts --ipc --cgroup --net -- "$@"; }
state() { inside systemctl show picomem --property "$1" --value; }
picomem() {
    inside systemd-run --pipe --wait --quiet --property=DynamicUser=yes --property=User=picomem \
        --property=StateDirectory=picomem --setenv=PICOMEM_DATA_DIR=/var/lib/picomem /opt/picomem/bin/picomem "$@"
}
call() {
    inside curl --silent --fail --header "Authorization: Bearer $token" --header "Content-Type: application/json" \
        --data "$2" "http://127.0.0.1:8765/api/v1/$1"
}
until_ready() {
    for _ in $(seq 30); do
        inside curl --silent --fail --output /dev/null http://127.0.0.1:8765/ready && return
        sleep 1
    done
    inside journalctl --unit picomem --no-pager --output cat --lines 30
    echo "the server is not ready" >&2
    exit 1
}
check() {
    [ "$2" = "$3" ] || { echo "$1: $2, not $3" >&2; exit 1; }
    echo "$1: $2"
}

for _ in $(seq 30); do
    inside systemctl is-system-running --wait > /dev/null 2>&1 && break
    sleep 1
done
inside systemctl start picomem || true
until_ready
echo "/ready answers"
token=$(picomem token make --user ann --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["token"])')
call remember '{"content": "The quincemarmalade is in the cellar"}' > /dev/null
call recall '{"query": "where is the quincemarmalade"}' | grep --quiet "is in the cellar"
check "restarts after a write and a recall in the sandbox" "$(state NRestarts)" 0
inside kill -9 "$(state MainPID)"
sleep 3
until_ready
check "restarts after kill -9" "$(state NRestarts)" 1
call recall '{"query": "where is the quincemarmalade"}' | grep --quiet "is in the cellar"
inside systemctl start picomem-backup.service
check "the backup beside the server" "$(inside systemctl show picomem-backup --property Result --value)" success
begun=$(date +%s)
inside systemctl stop picomem
check "the stop" "$(state Result)" success
echo "the stop took $(($(date +%s) - begun)) s"
inside journalctl --unit picomem --no-pager --output cat > "$folder/journal"
check "journal lines with content" "$(grep --count quincemarmalade "$folder/journal" || true)" 0
grep '^{' "$folder/journal" | python3 -c 'import json, sys; print(len([json.loads(line) for line in sys.stdin]), "JSON lines")'
