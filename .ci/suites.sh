# Functions that run suites, some in parallel, and report what each costs. For .ci/run and .ci/whole.

logs=$(mktemp -d)
names=()
failed=()
trap 'for pid in "${!names[@]}"; do kill -- "-$pid" 2>/dev/null || true; done; rm -rf "$logs"' EXIT

# Runs a suite in parallel with others, four at a time: they wait more than they compute. Its log is printed as a whole when it
# ends.
beside() {
  while [ "$(jobs -rp | wc -l)" -ge 4 ]; do sleep 0.2; done
  start "$logs/$1" "$@"
}

# Runs a suite while no other is started, and prints as it goes.
alone() {
  start '' "$@"
  await_suite "$started"
}

# Usage: start <log or ''> <name> <command>…
start() {
  local log=$1 name=$2
  shift 2
  # In its own process group, so that nothing of it outlives the run.
  set -m
  (
    set +m
    SECONDS=0
    code=0
    # Not `"$@" || code=$?`, which would switch off errexit in functions.
    if [ -n "$log" ]; then "$@" >"$log" 2>&1 </dev/null & else "$@" </dev/null & fi
    wait $! || code=$?
    report "$log" "$name" "$code" "$SECONDS"
    [ "$code" = 77 ] || exit "$code"
  ) &
  set +m
  started=$!
  names[$started]=$name
}

report() {
  local log=$1 name=$2 code=$3 seconds=$4 spent="$logs/.times-$BASHPID" verdict=passed cpu
  # Into a file: in a pipe or a substitution it would be another shell's time.
  times >"$spent"
  cpu=$(awk 'NR == 2 { split($1, user, "m"); split($2, kernel, "m")
    printf "%.0f", (user[1] + kernel[1]) * 60 + user[2] + kernel[2] }' "$spent")
  case $code in
    0) ;;
    77) verdict='skipped, because a program is missing' ;;
    *) verdict="failed with $code" ;;
  esac
  exec 9>"$logs/.printing"
  flock 9
  if [ -n "$log" ]; then
    echo "=== $name"
    cat "$log"
  fi
  echo "=== $name: $verdict in $seconds s, $cpu CPU-seconds"
  printf '%6d s %6d CPU-s  %s: %s\n' "$seconds" "$cpu" "$name" "$verdict" >>"$logs/.costs"
}

await_suite() {
  wait "$1" || failed+=("${names[$1]}")
  unset "names[$1]"
}

# Waits for all suites that were started.
await_suites() {
  local pid
  for pid in "${!names[@]}"; do await_suite "$pid"; done
}

# Prints the costs of all suites, the most expensive first, and exits if a suite failed.
conclude() {
  await_suites
  echo
  sort -k3 -n -r "$logs/.costs"
  awk -v seconds="$SECONDS" '{ cpu += $3 }
    END { printf "%6d s %6d CPU-s  in all\n", seconds, cpu }' "$logs/.costs"
  if [ "${#failed[@]}" = 0 ]; then return; fi
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
}

# Retries once, and says so, what depends on chance. Vitest suites retry single tests instead.
again() {
  "$@" && return
  echo "failed once: $*"
  "$@"
}

# Retries a run that could not be made (exit code 3), never one that violated an invariant.
again_unless_violated() {
  local code=0
  "$@" || code=$?
  [ "$code" = 3 ] || return "$code"
  echo "could not be made: $*"
  "$@"
}
