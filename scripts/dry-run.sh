#!/usr/bin/env bash
# Validates the installation of the operator and its samples strictly with the API server of KUBECONFIG. A dry run fails
# if the namespace or the kind does not exist, so the installation is applied first. Use a disposable cluster.
set -euo pipefail
installation=$1 samples=$2

kubectl apply --server-side --validate=strict -f "$installation" >/dev/null
kubectl wait --for=condition=Established customresourcedefinitions --all --timeout=2m >/dev/null
kubectl apply --server-side --validate=strict --dry-run=server -f "$installation" -f "$samples"
