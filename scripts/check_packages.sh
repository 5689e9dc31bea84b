#!/bin/sh
# Builds the Debian packages of the last commit in a chroot, checks them with lintian, installs all of them in a second
# chroot that has nothing else, tries each, and removes them again. Needs root and mmdebstrap; without them, prints a
# message and ends with status 0.
# usage: check_packages.sh [-t] [FOLDER]     FOLDER gets the packages (build/packages); -t tries the packages in it,
# without building. SUITE=trixie takes another release of Debian than bookworm. CACHE (build/packages-cache) keeps the
# chroot of the build and the compiler's cache for the next run; remove it to begin with current packages of Debian.
set -eu
suite=${SUITE:-bookworm}
try_only=
if [ "${1:-}" = -t ]; then
    try_only=yes
    shift
fi
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ] || ! command -v mmdebstrap >/dev/null; then
    echo 'check_packages.sh: skipped, because it needs root and mmdebstrap: sudo apt-get install mmdebstrap' >&2
    exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
result=$(realpath -m "${1:-build/packages}")
cache=$(realpath -m "${CACHE:-build/packages-cache}")
build() {
    rm -rf "$result"
    mkdir -p "$tmp/src" "$result"
    git archive HEAD | tar -x -C "$tmp/src"
    prepare_chroot
    echo "packages: building in a chroot of $suite"
    if unshare --mount sh -ec "mkdir $tmp/root; tar -C $tmp/root --exclude='./dev/*' -xf $cache/$suite.tar
        cp -r $tmp/src $tmp/root/root
        mkdir -p $tmp/root/ccache && mount --bind $cache/ccache $tmp/root/ccache
        mount --rbind /dev $tmp/root/dev && mount -t proc proc $tmp/root/proc
        cp $tmp/build.sh $tmp/root/root && chroot $tmp/root sh /root/build.sh" >"$tmp/build.log" 2>&1; then
        mv "$tmp"/root/root/*.deb "$result"
        rm -rf "$tmp/root"
    else
        cp "$tmp/build.log" "$result"
        grep -E '^(E|W): |rror:|\*\*\*' "$tmp/build.log" | tail -30 >&2
        echo "check_packages.sh: see $result/build.log" >&2
        exit 1
    fi
}
# Fills CACHE with a chroot that has what the build needs, unless it is there.
prepare_chroot() {
    needed=$(sed -n '/^Build-Depends:/,/^[A-Z]/{s/^Build-Depends://;/^[A-Z]/d;p}' debian/control |
        sed 's/([^)]*)//g; s/debhelper-compat/debhelper/; s/:any//g' | tr -d ' \n'),ccache,lintian
    mkdir -p "$cache/ccache"
    if [ ! -e "$cache/$suite.tar" ] || [ "$(cat "$cache/$suite.list")" != "$needed" ]; then
        echo "packages: making a chroot of $suite"
        mmdebstrap --quiet --variant=buildd --include="$needed" "$suite" "$tmp/chroot.tar" >"$tmp/chroot.log" 2>&1 || {
            tail -30 "$tmp/chroot.log" >&2
            exit 1
        }
        mv "$tmp/chroot.tar" "$cache/$suite.tar"
        echo "$needed" >"$cache/$suite.list"
    fi
}
cat >"$tmp/build.sh" <<'END'
set -e
export PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin CCACHE_DIR=/ccache HOME=/root
cd /root/src
DEB_BUILD_OPTIONS=parallel=${JOBS:-$(nproc)} dpkg-buildpackage -b -us -uc
cd ..
lintian --fail-on error,warning --allow-root heddle_*.changes
END
[ -n "$try_only" ] || build

# Installs the packages with what they depend on, and with a compiler for programs that use the library.
cat >"$tmp/try.sh" <<'END'
set -e
heddle bench vecadd bfs
heddle list models >/dev/null
heddle help tutorial | grep -q Heddle
cd /tmp
cp /usr/share/doc/libheddle-dev/examples/vecadd.c* .
[ -e vecadd.c ] || gunzip vecadd.c.gz
cc -o shared vecadd.c $(pkg-config --cflags --libs heddle) && ./shared
cc -o static vecadd.c $(pkg-config --cflags heddle) -l:libheddle.a $(pkg-config --static --libs-only-l heddle | sed s/-lheddle//) && ./static
python3 -c 'import heddle; print("python", heddle.version())'
END
list=$(find "$result" -name '*.deb' ! -name '*dbgsym*' | sort | paste -sd,)
echo 'packages: installing, trying, removing'
mmdebstrap --quiet --variant=apt --include="gcc,libc6-dev,pkgconf,python3,$list" \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount "$suite" /dev/null \
    --customize-hook="upload $tmp/try.sh /root/try.sh" \
    --customize-hook='chroot "$1" sh /root/try.sh' \
    --customize-hook='chroot "$1" sh -ec "dpkg --purge heddle heddle-doc libheddle-dev python3-heddle libheddle0; rm -rf /tmp/* /root/try.sh"' \
    --customize-hook='left=$(find "$1" -xdev -iname "*heddle*" -not -path "*/proc/*" -not -path "*/var/cache/*" -not -path "*/var/lib/apt/*" -not -path "*.deb"); [ -z "$left" ] || { echo "left behind: $left"; exit 1; }' \
    >"$tmp/try.log" 2>&1 || {
    tail -30 "$tmp/try.log" >&2
    exit 1
}
grep -E 'pass|python|left' "$tmp/try.log" || :
echo "packages: built, checked, installed, tried and removed; they are in $result"
