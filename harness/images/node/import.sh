# Imports an archive of images into the containerd store of a root file system. It runs the node's containerd on the host.
set -o errexit -o nounset -o pipefail

containerd=$1 ctr=$2 root=$3 state=$4 archive=$5
mkdir -p "$state"

# Only storing images needs to work. The node itself uses kind's configuration.
cat >"$state/config.toml" <<CONFIG
version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images",
  "io.containerd.nri.v1.nri", "io.containerd.internal.v1.restart", "io.containerd.podsandbox.controller.v1.podsandbox"]
[plugins."io.containerd.internal.v1.opt"]
  path = "$state/opt"
CONFIG
"$containerd" --config="$state/config.toml" --root="$root/var/lib/containerd" --state="$state" --address="$state/containerd.sock" \
  --log-level=warn &

ctr() { "$ctr" --address="$state/containerd.sock" "$@"; }
until ctr --connect-timeout=1s version >/dev/null 2>&1; do
  kill -0 $! 2>/dev/null # fails if containerd has exited; its log says why
  sleep 0.1
done
ctr --namespace=k8s.io images import --label=io.cri-containerd.pinned=pinned --all-platforms --no-unpack --digests "$archive" >/dev/null
kill $!
wait $! # so that the store is complete
