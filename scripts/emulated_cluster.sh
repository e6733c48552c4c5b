#!/usr/bin/env bash
# A cluster on one machine: N hosts with names and links of their own, joined by a switch. Measured, not simulated:
# real processes, real TCP, every link shaped to a rate.
#
#   host0 ──200mbit──┐                    Each host has its own network stack and host name; files and processors are
#   host1 ──200mbit──┤ switch             shared. A link is a veth pair, shaped (tbf) in both directions. With --racks
#   host2 ──200mbit──┤                    each rack has its own switch, and a slower link up to the others.
#   host3 ──200mbit──┘
#
#   scripts/emulated_cluster.sh run [OPTIONS] -- COMMAND...    on host0 of the cluster, or of one built for it alone
#   scripts/emulated_cluster.sh up [OPTIONS]                   builds a cluster that stays
#   scripts/emulated_cluster.sh down [--name NAME]             takes it away, with whatever runs in it
#   scripts/emulated_cluster.sh down --stale                   clears /tmp of those that were killed outright; so does up
#
#   --hosts N        2 to 250 (default 4)              --racks R       N/R hosts each (default 1)
#   --rate RATE      of each host's link, as tc writes it: 200mbit, 1gbit (default 200mbit)
#   --uplink RATE    of each rack's link to the others (default: --rate)
#   --fair           hosts share their rack's uplink evenly, where the kernel has htb and u32 (default: first come first)
#   --delay TIME     one way, from each host to its switch, where the kernel has netem: 500us, 10ms (default: none)
#   --name NAME      several clusters side by side (default: default)
#
# `mpirun -n N PROGRAM` inside runs one process on each host. Needs root, or a kernel that lets users make namespaces.
# All of it lives in namespaces of one process: nothing outside is touched, and when that process ends, however it
# ends, the kernel removes everything but a folder in /tmp that this user alone may enter. Exit codes: the command's;
# 2 usage, or the name is taken: by a cluster, or by what is no cluster of this user's; 77 where a tool is missing or
# the kernel refuses.
set -euo pipefail

self=$(realpath "$0")
source "${self%/*}/cluster_state.sh"
readonly net=10.77.0
readonly burst=32kb depth=256kb  # of the shapers: how much may pass at once, how much may wait, as in a switch's port
# What a shaper passes whole. It cuts longer packets into frames, and then two cores are busy with frames.
readonly packet=16384

fail() { echo "emulated_cluster.sh: $*" >&2; exit 2; }
missing() { echo "emulated_cluster.sh: needs $1: apt-get install iproute2 util-linux" >&2; exit 77; }
refused() { echo "emulated_cluster.sh: the kernel refused: $*" >&2; exit 77; }

hosts=4 racks=1 rate=200mbit uplink='' delay='' name=default stale='' fair=''
command=()
parse() {
  while (($#)); do
    case $1 in
      --hosts | --racks | --rate | --uplink | --delay | --name)
        (($# > 1)) || fail "$1 needs a value"
        printf -v "${1#--}" %s "$2"
        shift 2 ;;
      --fair) fair=--fair; shift ;;
      --stale)
        [[ $verb == down ]] || fail "--stale is for down alone"
        stale=yes
        shift ;;
      --) shift; command=("$@"); break ;;
      *) fail "unknown option '$1'; there are: --hosts, --racks, --rate, --uplink, --fair, --delay, --name, --stale, and -- before the command" ;;
    esac
  done
  [[ $hosts =~ ^[0-9]{1,3}$ ]] && ((10#$hosts >= 2 && 10#$hosts <= 250)) || fail "--hosts must be 2 to 250, not '$hosts'"
  [[ $racks =~ ^[0-9]{1,3}$ ]] && ((10#$racks >= 1 && 10#$hosts % 10#$racks == 0)) ||
    fail "--racks must divide the $hosts hosts, not be '$racks'"
  [[ ! $fair ]] || ((10#$racks > 1)) || fail "--fair is for the uplinks of --racks"
  uplink=${uplink:-$rate}
  local r
  for r in "$rate" "$uplink"; do
    [[ $r =~ ^[1-9][0-9]*(kbit|mbit|gbit)$ ]] || fail "a rate is a number and kbit, mbit or gbit (200mbit), not '$r'"
  done
  [[ ! $delay || $delay =~ ^[1-9][0-9]*(us|ms)$ ]] || fail "a delay is a number and us or ms (10ms), not '$delay'"
  [[ $name =~ ^[A-Za-z0-9_-]{1,32}$ ]] || fail "--name takes letters, digits, - and _, not '$name'"
  hosts=$((10#$hosts)) racks=$((10#$racks))
  # The first process of a cluster is told, since a user may be called root there; nobody else listens.
  [[ $verb == hold && -n ${COLLMARK_CLUSTER_STATE-} ]] || COLLMARK_CLUSTER_STATE=/tmp/collmark-cluster-$(id -u)-$name
  export COLLMARK_CLUSTER_STATE
  state=$COLLMARK_CLUSTER_STATE
}

# ---- inside the namespaces -------------------------------------------------------------------------------------------

shape() {  # shape PID|- DEVICE RATE [DELAY]: a link's one direction
  local where=() parent=root
  [[ $1 == - ]] || where=(nsenter -t "$1" --net)
  if [[ ${4-} ]]; then
    "${where[@]}" tc qdisc add dev "$2" root handle 1: netem delay "$4" limit 10000
    parent='parent 1:1'
  fi
  # shellcheck disable=SC2086  # two words
  "${where[@]}" tc qdisc add dev "$2" $parent tbf rate "$3" burst $burst limit $depth
}

share() {  # share DEVICE src|dst RACK: an uplink; hosts have equal parts of it, and what others leave of theirs
  local per=$((hosts / racks)) i id part unit=${uplink//[0-9]/}
  local -A smaller=([kbit]=bit [mbit]=kbit [gbit]=mbit)
  part=$((${uplink%"$unit"} * 1000 / per))${smaller[$unit]}
  local class=(tc class add dev "$1" parent) all=(ceil "$uplink" burst $burst cburst $burst quantum $packet)
  tc qdisc add dev "$1" root handle 1: htb default 2  # whatever is of no host
  "${class[@]}" 1: classid 1:1 htb rate "$uplink" "${all[@]}"
  "${class[@]}" 1:1 classid 1:2 htb rate "$part" "${all[@]}"
  for ((i = $3 * per; i < ($3 + 1) * per; ++i)); do
    printf -v id 1:%x $((i + 16))
    "${class[@]}" 1:1 classid "$id" htb rate "$part" "${all[@]}"
    tc qdisc add dev "$1" parent "$id" bfifo limit $depth
    tc filter add dev "$1" parent 1: protocol ip u32 match ip "$2" "$net.$((i + 1))/32" flowid "$id"
  done
}

add_switch() { ip link add "$1" type bridge && ip link set "$1" up; }

add_rack() {  # its switch, and its uplink
  add_switch "rack$1"
  ((racks > 1)) || return 0
  ip link add "up$1" type veth peer name "down$1"
  ip link set "up$1" master "rack$1" up
  ip link set "down$1" master spine up
  if [[ $fair ]]; then share "up$1" src "$1"; else shape - "up$1" "$uplink"; fi
  if [[ $fair ]]; then share "down$1" dst "$1"; else shape - "down$1" "$uplink"; fi
}

add_host() {
  local i=$1 pid
  unshare --net --uts bash -c 'hostname "$0"; exec sleep infinity' "host$i" 2>"$state/why" &
  pid=$!
  until [[ $(nsenter -t $pid --uts hostname 2>/dev/null) == "host$i" ]]; do
    kill -0 $pid 2>/dev/null || { { set +x; } 2>/dev/null; sed '1i+ unshare --net --uts' "$state/why" >&2; exit 1; }
    sleep 0.01
  done
  ip link add "port$i" type veth peer name eth0 netns $pid
  ip link set "port$i" master "rack$((i / (hosts / racks)))" up
  nsenter -t $pid --net bash -euc "
    ip link set lo up; ip addr add $net.$((i + 1))/24 dev eth0; ip link set eth0 up gso_max_size $packet
    echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle
    echo reno >/proc/sys/net/ipv4/tcp_congestion_control"  # there in every kernel, whatever its own choice
  shape "$pid" eth0 "$rate" "$delay"
  shape - "port$i" "$rate"
  echo "host$i $pid" >>"$state/hosts"
  echo "host$i slots=1" >>"$state/hostfile"
  echo "$net.$((i + 1)) host$i" >>"$state/etc_hosts"
}

hold() {  # the cluster's first process: builds it, and is it
  local outer _ i
  [[ $$ == 1 && -z $(ip -o link show up) ]] || fail "'hold' is for this script's own use"
  read -r outer _ </proc/self/stat
  mount -t proc proc /proc
  set -x
  hostname switch
  ip link set lo up
  if ((racks > 1)); then add_switch spine; fi
  for ((i = 0; i < racks; ++i)); do add_rack "$i"; done
  echo "127.0.0.1 localhost" >"$state/etc_hosts"
  for ((i = 0; i < hosts; ++i)); do add_host "$i"; done
  mount --bind "$state/etc_hosts" /etc/hosts
  { set +x; } 2>/dev/null
  echo "$outer $(stat_of 1 22)" >"$state/holder.new"
  mv "$state/holder.new" "$state/holder"
  while :; do sleep 1000 & wait $! || true; done  # and buries its orphans
}

# ---- outside ---------------------------------------------------------------------------------------------------------

# Signals that come while something is made or started wait until it is, so that what ends it knows of it. No $( )
# meanwhile: bash 5.2 may run a trap in the midst of reading one, and stumbles.
ended=''
later() { trap 'ended=130' INT; trap 'ended=143' TERM; trap 'ended=129' HUP; }

why() { awk '/^[^+]/ { said = call $0 } { call = $0 " " } END { print said }' "$state/log"; }  # the refused call

undo() {  # a cluster that is not up yet
  if [[ ${keeper-} ]]; then kill -KILL "$keeper" && wait "$keeper"; fi 2>/dev/null || true
  remove
}

up() {
  lock
  look
  if holder >/dev/null; then fail "cluster '$name' is up already; take it down, or choose another --name"; fi
  remove
  remove_stale
  local marker as=()
  marker="$$ $(stat_of $$ 22) $(pids_here)"
  [[ $(id -u) == 0 ]] || as=(--user --map-root-user)
  later
  mkdir -m 700 -- "$state"
  trap undo EXIT
  echo "$marker" >"$state/collmark-cluster"
  unlock
  mkdir "$state/tmp"
  cat >"$state/agent" <<AGENT
# agent HOST COMMAND...: runs it there, as ssh would
pid=\$(sed -n "s/^\$1 //p" "$state/hosts")
[ -n "\$pid" ] || { echo "no host '\$1' in this cluster" >&2; exit 1; }
shift
exec nsenter -t "\$pid" --net --uts -- sh -c "\$*"
AGENT
  setsid "${bound[@]}" unshare "${as[@]}" --net --mount --uts --pid --fork --kill-child \
    bash "$self" hold --hosts "$hosts" --racks "$racks" --rate "$rate" --uplink "$uplink" \
    ${delay:+--delay "$delay"} $fair --name "$name" \
    </dev/null >/dev/null 2>"$state/log" &
  keeper=$!
  until [[ -e $state/holder ]]; do
    [[ ! $ended ]] || exit "$ended"
    kill -0 $keeper 2>/dev/null || refused "$(why)"
    { sleep 0.05; } 2>/dev/null || true
  done
  [[ ! $ended ]] || exit "$ended"
  trap - EXIT
}

down() {
  lock
  if [[ $stale ]]; then remove_stale; return; fi
  look
  [[ -e $state ]] || fail "there is no cluster '$name'"
  local pid
  if pid=$(holder); then
    kill -KILL "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
  fi
  remove
  unlock
}

pass_on() {  # pass_on STATUS: the signal of 128 less goes to the command and what it started, which have ten seconds to end
  local i group=''
  trap '' INT TERM HUP
  for ((i = 0; i < 100; ++i)); do
    kill -0 "$job" 2>/dev/null || break
    # Whoever came before it was started waits for its number.
    if [[ ! $group ]] && group=$(cat "$started" 2>/dev/null) && [[ $group ]]; then
      "${inside[@]}" bash -c "kill -$(($1 - 128)) -- -$group" 2>/dev/null || true
    fi
    sleep 0.1
  done
  if [[ $group ]]; then "${inside[@]}" bash -c "kill -s KILL -- -$group" 2>/dev/null || true; fi
  { kill -s KILL "$job"; wait "$job"; } 2>/dev/null || true
  rm -f -- "$started"
  exit "$1"
}

run() {
  ((${#command[@]})) || fail "run needs -- and a command"
  look
  if ! holder >/dev/null; then  # one for this command alone: no other shares it, and it ends with this script
    state+=.$$
    COLLMARK_CLUSTER_STATE=$state
    bound=(setpriv --pdeathsig KILL)
    up
    trap '{ down; wait; } 2>/dev/null' EXIT
  fi
  later
  local there first pid _ status=0
  mapfile -t there <"$state/hosts"
  read -r _ first <<<"${there[0]}"
  read -r pid _ <"$state/holder"
  local settings=(
    TMPDIR="$state/tmp" COLLMARK_CLUSTER_HOSTS="${#there[@]}"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Starting ranks is ORTE's in Open MPI 4, PRRTE's in 5.
    OMPI_MCA_plm_rsh_agent="sh $state/agent" PRTE_MCA_plm_ssh_agent="sh $state/agent"  # /tmp may be noexec
    OMPI_MCA_orte_default_hostfile="$state/hostfile" PRTE_MCA_prte_default_hostfile="$state/hostfile"
    OMPI_MCA_oob_tcp_if_include=$net.0/24 PRTE_MCA_prte_if_include=$net.0/24
    OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
    OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=$net.0/24
    OMPI_MCA_mpi_yield_when_idle=1  # N spinning ranks on few cores cost a third of the time
    OMPI_MCA_btl_tcp_links=2        # one connection carries both directions by turns
  )
  started=$state/command.$$  # where the command, the leader of its group, leaves its number
  inside=(nsenter -t "$pid" "${user[@]}" --mount --pid --wdns="$PWD" --)
  # A session of its own, so that Ctrl-C reaches the command once: through pass_on.
  (
    trap '' INT QUIT TERM HUP
    exec "${inside[@]}" setsid --wait nsenter -t "$first" --net --uts -- \
      env -u COLLMARK_CLUSTER_STATE --default-signal=INT,QUIT,TERM,HUP "${settings[@]}" \
      sh -c 'echo $$ >"$0"; exec "$@"' "$started" "${command[@]}"
  ) <&0 &
  local job=$!
  trap 'pass_on 130' INT
  trap 'pass_on 143' TERM
  trap 'pass_on 129' HUP
  [[ ! $ended ]] || pass_on "$ended"
  wait $job || status=$?
  rm -f -- "$started"
  exit $status
}

(($#)) || { sed -n '2,28s/^# \{0,1\}//p' "$self"; exit 2; }
verb=$1
shift
for tool in ip tc nsenter unshare setsid setpriv flock; do
  command -v $tool >/dev/null || missing "$tool"
done
bound=() user=()
[[ $(id -u) == 0 ]] || user=(--user --preserve-credentials)
case $verb in
  up | run | down | hold) parse "$@"; "$verb" ;;
  -h | --help) sed -n '2,28s/^# \{0,1\}//p' "$self" ;;
  *) fail "unknown command '$verb'; there are: up, run, down" ;;
esac
