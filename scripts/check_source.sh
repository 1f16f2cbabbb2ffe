#!/usr/bin/env bash
# Checks what a compiler cannot: file lengths, the direction of includes between the layers,
# names that say nothing, and what lies at the top level.
#
#   scripts/check_source.sh [ROOT]
set -euo pipefail

root=${1:-$(dirname "${BASH_SOURCE[0]}")/..}
cd "$root"

line_limit=400
problems=0
problem() {
  printf 'check_source: %s\n' "$*"
  problems=$((problems + 1))
}

# The layers: what each may include besides itself.
declare -A may_include=(
  [model]=""
  [formats]="model"
  [index]="model formats"
  [compare]="model"
  [replay]="model"
  [report]="model compare replay"
  [cli]="model formats index compare replay report"
)

sources() { # folder...
  local folder folders=()
  for folder; do
    [ ! -d "$folder" ] || folders+=("$folder")
  done
  [ ${#folders[@]} -eq 0 ] ||
    find "${folders[@]}" -path tests/data -prune -o -type f \( -name '*.cpp' -o -name '*.hpp' \) -print |
    sort
}

check_lengths() {
  local file lines
  while read -r lines file; do
    problem "$file: $lines lines, limit $line_limit: split it"
  done < <(sources src include tests | xargs -r -d '\n' -n 1000 wc -l |
    awk -v limit=$line_limit '$1 > limit && $2 != "total"')
}

# Lines "file:line:what is included".
includes() { # folder...
  local files
  mapfile -t files < <(sources "$@")
  [ ${#files[@]} -gt 0 ] || return 0
  grep -nHE '^[[:space:]]*#[[:space:]]*include' "${files[@]}" |
    sed -E 's/^([^:]+:[0-9]+):[^<"]*[<"]([^>"]*)[>"].*/\1:\2/'
}

check_layers() {
  local file line included place layer target
  # "../formats/x.hpp", "formats/x.hpp" and "detdiff/formats.hpp" all name the layer formats.
  local names pattern
  names=$(IFS='|' && printf '%s' "${!may_include[*]}")
  pattern="^((\.\.?/)*(src/)?($names)/|detdiff/($names)(/|\.hpp$))"

  while IFS=: read -r file line included; do
    place="$file:$line"
    layer=""
    if [[ $file =~ ^src/([^/]+)/ ]]; then
      layer=${BASH_REMATCH[1]}
    fi
    case $file,$included in
      tests/*) ;;
      *,CLI/*) [ "$layer" = cli ] || problem "$place: only src/cli includes CLI11" ;;
      *,simdjson*) [ "$layer" = formats ] || problem "$place: only src/formats includes simdjson" ;;
    esac
    [[ $included =~ $pattern ]] || continue
    target=${BASH_REMATCH[4]}${BASH_REMATCH[5]}
    if [[ $file == include/* && $included != detdiff/* ]]; then
      problem "$place: a public header includes $included, which is not installed"
    elif [ -n "$layer" ] && [ "$target" != "$layer" ] &&
      [[ " ${may_include[$layer]:-} " != *" $target "* ]]; then
      problem "$place: $layer may not include $target ($included)"
    fi
  done < <(includes src include tests)

  while read -r file; do
    layer=${file#src/}
    layer=${layer%%/*}
    [ -n "${may_include[$layer]+known}" ] || problem "$file: src/$layer is no layer"
  done < <(sources src)
}

check_names() {
  local path name
  while read -r path; do
    name=${path##*/}
    problem "$path: the name '${name%%.*}' says nothing about what is in it"
  done < <(find src include tests scripts -regextype posix-extended \
    -regex '.*/([^/]*[_-])?(utils?|helpers?|common|misc)(\.[^/]*)?' 2>/dev/null | sort)
}

# Entries that git ignores do not count; in a source archive only build folders are taken for such.
top_level() {
  if [ -e .git ] && git ls-files --cached --others --exclude-standard >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard | cut -d/ -f1 | sort -u
  else
    find . -mindepth 1 -maxdepth 1 ! -name 'build*' | cut -d/ -f2 | sort
  fi
}

check_top_level() {
  local entry
  while read -r entry; do
    case $entry in
      .* | CMakeLists.txt | CMakePresets.json | vcpkg.json | LICENSE | README.md) ;;
      src | include | tests | examples | scripts) ;;
      *) problem "$entry: does not belong at the top level" ;;
    esac
  done < <(top_level)
}

check_lengths
check_layers
check_names
check_top_level

if [ $problems -gt 0 ]; then
  printf 'check_source: problems: %s\n' $problems
  exit 1
fi
