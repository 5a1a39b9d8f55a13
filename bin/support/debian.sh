# Sourced by the commands that run in another Debian, a folder below MATRIX_FOLDER that debootstrap creates the first
# time.

debians=${MATRIX_FOLDER:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp_server/matrix}
# Empty: debootstrap's own mirror.
mirror=${MATRIX_MIRROR:-}

# enter_debians COMMAND…: starts this script again in new namespaces. Their mounts and processes end with them.
enter_debians() {
  [ -z "${DEBIAN_INSIDE:-}" ] || return 0
  [ "$(id -u)" -eq 0 ] || skip "this needs root, for debootstrap and chroot"
  command -v debootstrap >/dev/null 2>&1 || skip "this needs debootstrap"
  unshare --mount --pid --fork mount -t proc proc /proc 2>/dev/null ||
    skip "this needs to mount, which is not allowed here"
  DEBIAN_INSIDE=1 exec unshare --mount --pid --fork --kill-child --mount-proc bash "$@"
}

# Exit status 77 means that a suite was skipped; its last line says why.
skip() {
  say "$*"
  exit 77
}

# open_debian NAME: creates the Debian if it is missing, and mounts /proc and /dev. It sets `chroot` to its folder;
# `in_debian` runs a line of shell in it.
open_debian() {
  chroot=$debians/$1
  in_debian=(chroot "$chroot" env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb ${CI:+"CI=$CI"})
  in_debian+=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c)
  make_debian "$1"
  mount -t proc proc "$chroot/proc"
  mount --rbind /dev "$chroot/dev"
}

# A rename at the end makes it complete or absent.
make_debian() {
  local debian=$1 script=$1
  [ ! -d "$chroot" ] || return 0
  # An older debootstrap lacks the scripts of newer releases, but has the script of sid.
  [ "$debian" != testing ] || script=sid
  [ -e "/usr/share/debootstrap/scripts/$script" ] || script=sid
  say "Making a Debian $debian in $chroot, once"
  rm -rf "$chroot.new"
  mkdir -p "$debians"
  debootstrap --variant=minbase "$debian" "$chroot.new" "$mirror" "/usr/share/debootstrap/scripts/$script" >&2 ||
    skip "debootstrap could not make a Debian $debian${mirror:+ from $mirror}"
  mv "$chroot.new" "$chroot"
}

# install_in_debian PACKAGE…
install_in_debian() {
  local missing
  # dpkg-query fails on unknown packages, which every new Debian has.
  missing=$( (inside / "dpkg-query -W -f '\${db:Status-Abbrev} \${Package}\n' $* 2>/dev/null" || true) |
    sed -n 's/^ii  *//p' | sort | comm -13 - <(printf '%s\n' "$@" | sort))
  [ -n "$missing" ] || return 0
  say "Installing in $chroot: ${missing//$'\n'/ }"
  # Installed services must not start. The package lists of testing are outdated after a week, so their date is ignored.
  printf '#!/bin/sh\nexit 101\n' >"$chroot/usr/sbin/policy-rc.d"
  chmod +x "$chroot/usr/sbin/policy-rc.d"
  mkdir -p "$chroot/etc/postgresql-common/createcluster.d"
  echo "create_main_cluster = false" >"$chroot/etc/postgresql-common/createcluster.d/no_server.conf"
  cp /etc/resolv.conf "$chroot/etc/resolv.conf"
  inside / "apt-get -qq -o Acquire::Check-Valid-Until=false update &&
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install ${missing//$'\n'/ }" >&2
}

# inside DIRECTORY LINE: runs a line of shell there.
inside() { "${in_debian[@]}" "cd $1 && $2"; }
