#!/bin/bash
# The authority of a cluster for one run, the certificates of its programs, and their kubeconfigs.
#   certificates.sh FOLDER NODE_ADDRESS API_PORT SERVICE_ADDRESS
set -euo pipefail
folder=$1 address=$2 port=$3 service=$4
mkdir -p "$folder/pki"
cd "$folder/pki"
openssl genrsa -out tokens.key 2048
openssl rsa -in tokens.key -pubout -out tokens.pub
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=quorate-cluster

# issue NAME SUBJECT [ALTERNATIVE NAMES]
issue() {
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2"
  {
    echo 'keyUsage = digitalSignature, keyEncipherment'
    echo 'extendedKeyUsage = serverAuth, clientAuth'
    [ -z "${3:-}" ] || echo "subjectAltName = $3"
  } >"$1.extensions"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
    -out "$1.crt" -extfile "$1.extensions"
}
kubeconfig() {
  cat >"$folder/$1.conf" <<CONFIG
apiVersion: v1
kind: Config
current-context: cluster
clusters:
  - name: cluster
    cluster: { server: "https://$address:$port", certificate-authority: "$folder/pki/ca.crt" }
users:
  - name: user
    user: { client-certificate: "$folder/pki/$1.crt", client-key: "$folder/pki/$1.key" }
contexts:
  - name: cluster
    context: { cluster: cluster, user: user }
CONFIG
}

names=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
issue apiserver /CN=kube-apiserver "IP:$address,IP:$service,IP:127.0.0.1,$names"
issue apiserver-kubelet /O=system:masters/CN=kube-apiserver
issue kubelet /O=system:nodes/CN=system:node:node-1 "IP:$address,DNS:node-1"
issue admin /O=system:masters/CN=admin
issue controller-manager /CN=system:kube-controller-manager
issue scheduler /CN=system:kube-scheduler
issue proxy /CN=system:kube-proxy
for user in admin kubelet controller-manager scheduler proxy; do kubeconfig $user; done
