# Turns a Debian root file system into a kind node, like images/base/Dockerfile of kind. It runs inside this root, after
# the files of kind, the files in this directory and the executables have been copied.
set -o errexit -o nounset -o pipefail

sandbox=$1 # the pause image

chmod 0755 /usr/local/bin/* /kind/bin/*
rm -f /usr/local/bin/clean-install

# Remove services that do not work in a container.
find /lib/systemd/system/sysinit.target.wants/ -name systemd-tmpfiles-setup.service -delete
rm -f /lib/systemd/system/multi-user.target.wants/* \
  /etc/systemd/system/*.wants/* \
  /lib/systemd/system/local-fs.target.wants/* \
  /lib/systemd/system/sockets.target.wants/*udev* \
  /lib/systemd/system/sockets.target.wants/*initctl* \
  /lib/systemd/system/basic.target.wants/*
echo ReadKMsg=no >>/etc/systemd/journald.conf

systemctl --quiet enable containerd.service kubelet.service pod-network.service undo-mount-hacks.service
systemctl --quiet mask systemd-binfmt.service # it would change the host

mkdir -p /etc/kubernetes/manifests /etc/cni/net.d
ctr oci spec |
  jq '.hooks.createContainer |= . + [{"path": "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' \
    >/etc/containerd/cri-base.json
sed -i "s|^\( *sandbox_image = \).*|\1\"$sandbox\"|" /etc/containerd/config.toml

apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/debconf/*-old /var/log/*.log
rm -f /etc/machine-id && touch /etc/machine-id # each node generates its own
