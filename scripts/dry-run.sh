#!/usr/bin/env bash
# Has the API server of KUBECONFIG judge the operator's installation and its samples, strictly. It must be one that
# may be spoilt: it refuses objects of a kind, or in a namespace, that it does not know, so the installation is
# applied first.
set -euo pipefail
installation=$1 samples=$2

kubectl apply --server-side --validate=strict -f "$installation" >/dev/null
kubectl wait --for=condition=Established customresourcedefinitions --all --timeout=30s >/dev/null
kubectl apply --server-side --validate=strict --dry-run=server -f "$installation" -f "$samples"
