# Copies the tools that kube-proxy needs (iptables, nft and conntrack) and their libraries to /kube-proxy. It runs inside
# the root file system of the node.
set -o errexit -o nounset -o pipefail

tools=(/usr/bin/dash /usr/bin/grep /usr/sbin/xtables-nft-multi /usr/sbin/xtables-legacy-multi /usr/sbin/nft /usr/sbin/conntrack)
extensions=(/usr/lib/*/xtables/*.so)
root=/kube-proxy
mkdir -p "$root/bin"

ldd "${tools[@]}" "${extensions[@]}" | grep -o '/[^ :)]*' | sort -u |
  xargs cp --parents --dereference --target-directory="$root" "${tools[@]}" "${extensions[@]}"
ln -s /usr/bin/dash "$root/bin/sh"

# kube-proxy must use the same iptables mode as the node. The kubelet's chains show which one that is.
cat >"$root/usr/sbin/iptables" <<'WRAPPER'
#!/bin/sh
mode=legacy
if /usr/sbin/xtables-nft-multi iptables-nft-save -t mangle 2>/dev/null | /usr/bin/grep -q '^:KUBE-IPTABLES-HINT\|^:KUBE-KUBELET-CANARY'; then
  mode=nft
fi
exec /usr/sbin/xtables-$mode-multi "${0##*/}" "$@"
WRAPPER
chmod 0755 "$root/usr/sbin/iptables"
for name in iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  ln -s iptables "$root/usr/sbin/$name"
done
