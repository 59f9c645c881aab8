#!/usr/bin/env bash
# build: builds the content of a release in _artifacts/release.
# draft: pushes and signs the image, and creates a draft of a GitHub release. It requires skopeo, cosign and gh, and can be
# repeated. The workflow publishes the draft after it has recorded the provenance.
# Variables: RELEASE_IMAGE, and VERSION, which defaults to the output of git describe.
set -euo pipefail
RELEASE_IMAGE=${RELEASE_IMAGE:-ghcr.io/operator-assay/assay-operator}
cd "$(dirname "$0")/.."
release=_artifacts/release
version=${VERSION:-$(git describe --tags --always --dirty)}

top=$PWD
kustomize() { go tool -modfile="$top/scripts/tools/go.mod" kustomize "$@"; }

build() {
  rm -rf "$release" bin/release && mkdir -p "$release" bin/release/install
  echo "image      $RELEASE_IMAGE:$version"
  local base
  base=$(scripts/empty-image.sh bin/release/cache amd64 arm64)
  KOCACHE=bin/release/cache KO_DEFAULTBASEIMAGE="$base" KO_DOCKER_REPO="$RELEASE_IMAGE" SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
    go tool -modfile="$top/scripts/tools/ko/go.mod" ko build --bare --push=false --platform=linux/amd64,linux/arm64 \
    --ldflags="-s -w" --image-user=65532:65532 \
    --image-label=org.opencontainers.image.licenses=Apache-2.0 \
    --image-label=org.opencontainers.image.revision="$(git rev-parse HEAD)" \
    --image-label="org.opencontainers.image.version=$version" \
    --sbom-dir="$release" --oci-layout-path=bin/release/image ./operator 2>bin/release/ko.log | cut -d@ -f2 >bin/release/digest ||
    { cat bin/release/ko.log >&2; exit 1; }
  tar --create --file "$release/image.oci.tar" --sort=name --mtime=@0 --owner=0 --group=0 --mode=u=rwX,go=rX \
    --directory bin/release/image oci-layout index.json blobs

  echo "install    $RELEASE_IMAGE@$(cat bin/release/digest)"
  (cd bin/release/install &&
    kustomize create --resources ../../../operator/config/default &&
    kustomize edit set image "controller=$RELEASE_IMAGE@$(cat ../digest)")
  kustomize build bin/release/install >"$release/install.yaml"
  (cd "$release" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
}

draft() {
  git merge-base --is-ancestor "$version" origin/main ||
    { echo "$version is not on origin/main in this clone: merge it first, or fetch the complete history" >&2; exit 1; }
  (cd "$release" && sha256sum --check --quiet SHA256SUMS)
  mkdir -p bin
  skopeo copy --all --preserve-digests --digestfile bin/digest "oci-archive:$release/image.oci.tar" "docker://$RELEASE_IMAGE:$version"
  local digest
  digest=$(cat bin/digest)
  grep -qF "$RELEASE_IMAGE@$digest" "$release/install.yaml" || { echo "the pushed image $digest differs from the image in install.yaml: run \`$0 build\` again" >&2; exit 1; }
  cosign sign --yes "$RELEASE_IMAGE@$digest"
  cosign sign-blob --yes --bundle "$release/SHA256SUMS.sigstore.json" "$release/SHA256SUMS"
  local prerelease=()
  [[ $version != *-* ]] || prerelease=(--prerelease)
  gh release view "$version" >/dev/null 2>&1 ||
    gh release create "$version" --draft --verify-tag --generate-notes "${prerelease[@]}"
  gh release upload "$version" --clobber "$release"/*
  [ -z "${GITHUB_OUTPUT:-}" ] || echo "digest=$digest" >>"$GITHUB_OUTPUT"
}

case "${1:-}" in
build | draft) "$1" ;;
*) echo "usage: $0 build|draft" >&2 && exit 2 ;;
esac
