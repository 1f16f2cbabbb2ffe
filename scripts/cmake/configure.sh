#!/usr/bin/env bash
# Configures a preset in build/<preset>: with ninja where there is one, again from the start where
# the folder was made for another place.
#
#   scripts/cmake/configure.sh PRESET [cmake options]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
preset=$1
shift
cd "$root"

cache=build/$preset/CMakeCache.txt
if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
  rm -rf "build/$preset"
fi
if [ ! -e "$cache" ] && command -v ninja >/dev/null 2>&1; then
  set -- -G Ninja "$@"
fi
exec cmake --preset "$preset" "$@"
