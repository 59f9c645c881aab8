#!/usr/bin/env bash
# Usage: empty-image.sh FOLDER ARCH... Writes a Linux image without layers to an OCI layout in FOLDER and prints its name.
# ko uses it as KO_DEFAULTBASEIMAGE if FOLDER is the KOCACHE, without a request to a registry.
set -euo pipefail
folder=$1/img
shift
mkdir -p "$folder/blobs/sha256"

# blob stores a text as a blob and prints the fields of its descriptor.
blob() {
  local digest
  digest=$(printf '%s' "$2" | sha256sum | cut -d' ' -f1)
  printf '%s' "$2" >"$folder/blobs/sha256/$digest"
  printf '"mediaType":"application/vnd.oci.image.%s.v1+json","size":%d,"digest":"sha256:%s"' "$1" ${#2} "$digest"
}

manifests=
for arch; do
  config=$(blob config "{\"architecture\":\"$arch\",\"os\":\"linux\",\"config\":{},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[]}}")
  manifest=$(blob manifest "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\"config\":{$config},\"layers\":[]}")
  manifests+="${manifests:+,}{$manifest,\"platform\":{\"architecture\":\"$arch\",\"os\":\"linux\"}}"
done
index=$(blob index "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.index.v1+json\",\"manifests\":[$manifests]}")
printf '{"imageLayoutVersion":"1.0.0"}' >"$folder/oci-layout"
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{%s},%s]}' "$index" "$manifests" >"$folder/index.json"
echo "scratch@$(grep -o 'sha256:[0-9a-f]*' <<<"$index")"
