#!/usr/bin/env bash
# Downloads axe-core for the accessibility tests of the report, and prints the path of the file. It uses the configured
# npm registry and verifies the checksum.
set -euo pipefail

version=4.14.1
sha256=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c

folder="${XDG_CACHE_HOME:-$HOME/.cache}/assay/axe-core/$version"
if [ ! -f "$folder/axe.min.js" ]; then
  command -v npm >/dev/null || { echo "cannot download axe-core without npm: install npm" >&2; exit 1; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && npm pack --silent "axe-core@$version" >/dev/null && tar -xzf "axe-core-$version.tgz" package/axe.min.js)
  echo "$sha256  $work/package/axe.min.js" | sha256sum --check --quiet >&2
  mkdir -p "$folder"
  mv "$work/package/axe.min.js" "$folder/axe.min.js.$$"
  mv "$folder/axe.min.js.$$" "$folder/axe.min.js"
fi
echo "$folder/axe.min.js"
