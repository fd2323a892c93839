#!/bin/sh
# in-system.sh TREE FOLDER COMMAND...: runs a command in the system whose files are in
# TREE, which stays as it is, with FOLDER as /mnt. Needs root.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
exec unshare --mount --pid --fork --kill-child -- sh -eu -c '
  tree=$1 folder=$2
  shift 2
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/changes /mnt/work /mnt/root
  mount -t overlay overlay -o "lowerdir=$tree,upperdir=/mnt/changes,workdir=/mnt/work" /mnt/root
  mkdir -p /mnt/root/proc /mnt/root/mnt
  mount -t proc proc /mnt/root/proc
  mount --bind "$folder" /mnt/root/mnt
  exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp LC_ALL=C chroot /mnt/root "$@"
' sh "$@"
