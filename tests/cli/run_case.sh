#!/usr/bin/env bash
# Runs one golden case and compares what came out with what is expected.
#
#   run_case.sh DETDIFF CASE_DIR        UPDATE=1 rewrites the expected files
#
# CASE_DIR holds: cmd (bash; the status of its last command counts), stdout, stderr, exit; input/, if
# there, is copied into the folder where cmd runs; pty, if there, means that standard output is a
# terminal of 80 x 24. In that folder, data is tests/data, and detdiff is the program under test.
# Versions are masked, so that the expected files fit every build and machine.
set -euo pipefail

if [ $# -ne 2 ]; then
  echo "usage: run_case.sh DETDIFF CASE_DIR" >&2
  exit 2
fi
detdiff=$(realpath "$1")
case_dir=$(realpath "$2")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

if [ -e "$case_dir/needs" ]; then
  while read -r tool; do
    if ! command -v "$tool" >/dev/null 2>&1; then
      echo "skip: needs the program $tool"
      exit 0
    fi
  done <"$case_dir/needs"
fi

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/bin" "$temporary/work" "$temporary/found"
ln -s "$detdiff" "$temporary/bin/detdiff"
[ ! -d "$case_dir/input" ] || cp -R "$case_dir/input/." "$temporary/work/"
ln -s "$here/../data" "$temporary/work/data"

export PATH="$temporary/bin:$PATH" LC_ALL=C.UTF-8 TERM=xterm-256color PYTHONDONTWRITEBYTECODE=1
unset NO_COLOR CLICOLOR_FORCE COLUMNS LINES
cd "$temporary/work"
status=0
if [ -e "$case_dir/pty" ]; then
  python3 "$here/pty_run.py" bash "$case_dir/cmd" \
    >"$temporary/stdout" 2>"$temporary/stderr" </dev/null || status=$?
else
  bash "$case_dir/cmd" >"$temporary/stdout" 2>"$temporary/stderr" </dev/null || status=$?
fi

# The version, and what the program was built with.
mask() {
  sed -E -e 's/^(detdiff) [0-9]+\.[0-9]+\.[0-9]+[^ ]*$/\1 VERSION/' \
    -e 's/"version": *"[^"]*"/"version": "VERSION"/' \
    -e 's/^(compiler|libraries) .*/\1 .../' "$1"
}
mask "$temporary/stdout" >"$temporary/found/stdout"
mask "$temporary/stderr" >"$temporary/found/stderr"
echo "$status" >"$temporary/found/exit"

if grep -aqF -e "$temporary" -e "$here" "$temporary/found/stdout" "$temporary/found/stderr"; then
  echo "the output holds a path of this machine"
  exit 1
fi
if [ "$status" -gt 128 ] && [ "$status" -ne 130 ]; then
  echo "ended by signal $((status - 128))"
  exit 1
fi
if [ "${UPDATE:-}" = 1 ]; then
  cp "$temporary/found/"* "$case_dir/"
  exit 0
fi
failed=0
for part in exit stdout stderr; do
  diff -u --label "$part expected" --label "$part found" \
    "$case_dir/$part" "$temporary/found/$part" || failed=1
done
exit $failed
