{{/* The genesis parameters of the network, for `quorate cluster-init`. Nothing in it is secret. */}}
{{- define "quorate.wanted" -}}
{{- $root := . -}}
{{- $replicas := list -}}
{{- range $index := until 4 -}}
{{- /* Short names: the resolver of a pod adds the namespace and the cluster's domain. */ -}}
{{- $host := printf "%s-%d.%s" (include "quorate.replicaSet" $root) $index (include "quorate.replicaService" $root) -}}
{{- $replicas = append $replicas (dict "host" $host "port" 7000) -}}
{{- end -}}
{{- $genesis := dict
  "chainId" .Values.genesisBlock.config.chainId
  "timestamp" .Values.genesisBlock.timestamp
  "gasLimit" .Values.genesisBlock.gasLimit
  "alloc" (include "quorate.alloc" . | fromJson).accounts
  "isWritePermissioned" (eq "true" (include "quorate.isWritePermissioned" .))
  "isReadPermissioned" (eq "true" (include "quorate.isReadPermissioned" .)) -}}
{{- $secrets := dict
  "keys" (include "quorate.keysSecret" .)
  "admin" (include "quorate.adminSecret" .)
  "network" (include "quorate.networkSecret" .) -}}
{{- dict
  "release" .Release.Name
  "blockchainId" (include "quorate.blockchainId" .)
  "genesis" $genesis
  "replicas" $replicas
  "secrets" $secrets
  "makesKeys" (empty .Values.keys.existingSecret) | toPrettyJson -}}
{{- end -}}
