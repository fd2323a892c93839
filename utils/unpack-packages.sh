#!/bin/sh
# unpack-packages.sh FOLDER SUITE PACKAGE... -- PROGRAM...: makes programs of another
# version of Debian usable without installing anything: downloads and unpacks the packages
# with all that they depend on, and writes a script for each of the programs in FOLDER/bin.
# FOLDER/.complete lists what it was made from; if that is the same, nothing is done.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
wanted=$*
folder=$1 suite=$2
shift 2
[ "$(cat "$folder/.complete" 2>/dev/null)" != "$wanted" ] || exit 0
packages=
while [ "$1" != -- ]; do
  packages="$packages $1"
  shift
done
shift

rm -rf "$folder"
apt=$folder/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/bin" "$folder/root"
: >"$apt/status"
printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' \
  "$suite" >"$apt/sources.list"
get() {
  apt-get -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State="$apt" -o Dir::State::Lists="$apt/lists" -o Dir::State::Status="$apt/status" \
    -o Dir::Cache="$apt/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" "$@"
}
get update
# $packages is a list.
get install --download-only --no-install-recommends -y $packages
for file in "$apt"/cache/archives/*.deb; do
  dpkg-deb -x "$file" "$folder/root"
done
rm -rf "$apt"

# The programs run with the C library that they were made for, and find their files.
loader=$(find "$folder/root/usr/lib" "$folder/root/lib" -name 'ld-linux*.so*' 2>/dev/null | head -n 1)
for program; do
  cat >"$folder/bin/$program" <<END
#!/bin/sh
export HELIX_RUNTIME='$folder/root/usr/lib/hx/runtime' VIMRUNTIME='$folder/root/usr/share/nvim/runtime'
exec '$loader' --library-path '${loader%/*}' '$folder/root/usr/bin/$program' "\$@"
END
  chmod +x "$folder/bin/$program"
done
printf '%s\n' "$wanted" >"$folder/.complete"
