#!/usr/bin/env bash
# Has the API server of KUBECONFIG judge the operator's installation and what users begin with. It must be one
# that may be spoilt: it refuses what is of a kind, or lies in a namespace, that it does not know, and so the
# installation is applied first.
set -euo pipefail
installation=$1 samples=$2
kubectl() { "$KUBEBUILDER_ASSETS/kubectl" "$@"; }

kubectl apply --server-side --validate=strict -f "$installation" >/dev/null
kubectl wait --for=condition=Established customresourcedefinitions --all --timeout=30s >/dev/null
kubectl apply --server-side --validate=strict --dry-run=server -f "$installation" -f "$samples"
