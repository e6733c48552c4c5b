# Sourced by emulated_cluster.sh: whose a cluster's folder in /tmp is, and whether its processes are still there.
# $state is the folder, $name the cluster's; fail MESSAGE ends the script.
# shellcheck shell=bash

stat_of() { cut -d' ' -f"$2" "/proc/$1/stat" 2>/dev/null; }  # stat_of PID FIELDS: 3 is its state, 22 when it began
pids_here() { readlink /proc/self/ns/pid; }  # what a pid means: /tmp may be that of several containers

living() {  # living FILE: prints the pid in it, if that process is still there; a reused pid is not it, nor a zombie
  local pid began _
  read -r pid began _ 2>/dev/null <"$1" || return 1
  [[ $(stat_of "$pid" 3,22) == [!ZX]" $began" ]] && echo "$pid"
}

holder() { living "$state/holder"; }  # the running cluster's first process

# Anybody may lay anything into /tmp, under any name. Only what nobody else could write is read, run or removed.
ours() {  # ours FOLDER: a cluster's, which this user alone may enter, with pids that mean the same here
  local marker=$1/collmark-cluster where
  [[ -d $1 && ! -L $1 && -O $1 && $(stat -c %A -- "$1") == d???--[-S]--- && -f $marker ]] || return 1
  read -r _ _ where <"$marker" && [[ $where == "$(pids_here)" ]]
}

is_stale() { ours "$1" && ! living "$1/collmark-cluster" >/dev/null && ! living "$1/holder" >/dev/null; }

look() {  # fails unless there is no cluster of this name, or one of ours that is not in the midst of being built
  local builder
  [[ -e $state || -L $state ]] || return 0
  ours "$state" || fail "$state is no cluster of this user's: remove it, or choose another --name"
  if ! holder >/dev/null && builder=$(living "$state/collmark-cluster") && [[ $builder != "$$" ]]; then
    fail "cluster '$name' is being built by process $builder"
  fi
}

# Between looking and making or removing nobody of this script comes. A lock on /tmp itself lays nothing into it.
lock() { exec {locked}</tmp && flock -w 10 "$locked" || fail "another process keeps /tmp locked"; }
unlock() { exec {locked}<&-; }

remove_stale() {  # behind the lock
  local folder
  for folder in "/tmp/collmark-cluster-$(id -u)-"*; do
    if is_stale "$folder"; then rm -rf -- "$folder"; fi
  done
}

remove() { if ours "$state"; then rm -rf -- "$state"; fi; }
