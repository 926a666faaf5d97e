#!/bin/bash
# Builds the programs of one Kubernetes node and of etcd from Go modules, because
# no prebuilt binary of them is in a package registry. Once per machine: about 15 minutes of two
# cores. Result: $QUORATE_CLUSTER_CACHE/bin. What is there in the wanted version is kept.
set -euo pipefail

kubernetes=${KUBERNETES_VERSION:-1.34.4}
etcd=${ETCD_VERSION:-3.6.5}
cache=${QUORATE_CLUSTER_CACHE:-$HOME/.cache/quorate-cluster}
bin=$cache/bin
work=$cache/build
stamp=$bin/.built-kubernetes-$kubernetes-etcd-$etcd
[ -f "$stamp" ] && exit 0
command -v go >/dev/null || {
  echo "build.sh: Go is missing; install Go 1.24 or newer" >&2
  exit 1
}
mkdir -p "$bin" "$work/kubernetes" "$work/etcd"
export CGO_ENABLED=0 GOTOOLCHAIN=local

# The released module asks for its own staging modules as v0.0.0 out of its source tree, which is
# not in the module. Each of them is released too, under the same minor and patch number.
cd "$work/kubernetes"
printf 'module quorate.test/kubernetes\n\ngo 1.24.0\n' >go.mod
released=$(go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
{
  printf 'module quorate.test/kubernetes\n\ngo 1.24.0\n\n'
  printf 'require k8s.io/kubernetes v%s\n\nreplace (\n' "$kubernetes"
  sed -n 's/^\t\(k8s\.io\/[a-z-]*\) => \.\/staging.*/\1/p' "$released" | sort -u |
    while read -r module; do printf '\t%s => %s v0.%s\n' "$module" "$module" "${kubernetes#1.}"; done
  printf ')\n'
} >go.mod
cat >programs.go <<'GO'
//go:build tools

package programs

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubelet"
)
GO
go mod tidy
minor=${kubernetes#1.}
stamped="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  stamped+=" -X $package.gitVersion=v$kubernetes -X $package.gitMajor=1"
  stamped+=" -X $package.gitMinor=${minor%.*} -X $package.gitTreeState=clean"
done
for program in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet; do
  echo "building $program $kubernetes"
  go build -trimpath -ldflags "$stamped" -o "$bin/$program" "k8s.io/kubernetes/cmd/$program"
done

cd "$work/etcd"
printf 'module quorate.test/etcd\n\ngo 1.24.0\n\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$etcd" >go.mod
printf '//go:build tools\n\npackage programs\n\nimport _ "go.etcd.io/etcd/server/v3"\n' >programs.go
go mod tidy
echo "building etcd $etcd"
go build -trimpath -ldflags "-s -w" -o "$bin/etcd" go.etcd.io/etcd/server/v3
touch "$stamp"
