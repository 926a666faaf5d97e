{{/* The configuration files of the nodes. Secrets and peers are in other volumes. */}}

{{- define "quorate.nodeConfig" -}}
network: /run/quorate/network/network.json
key: /run/quorate/key/node.key
# Below the root of the volume, where file systems keep a folder of their own (lost+found).
data: /data/node
health:
  host: {{ .Values.listenHost | quote }}
  port: 9545
log:
  level: {{ .Values.log.level }}
  format: json
allowsNetworkFileSystem: {{ .Values.storage.allowsNetworkFileSystem }}
{{- end -}}

{{- define "quorate.replicaConfig" -}}
{{- $config := include "quorate.nodeConfig" . | fromYaml -}}
{{- $_ := set $config "listen" (dict "host" .Values.listenHost "port" 7000) -}}
{{- $config | toPrettyJson -}}
{{- end -}}

{{- define "quorate.clientConfig" -}}
{{- $config := include "quorate.nodeConfig" . | fromYaml -}}
{{- $_ := set $config "name" "client-0" -}}
{{- $rpc := dict
  "host" .Values.listenHost
  "port" 8545
  "rootDialect" .Values.rpc.rootDialect
  "allowedHosts" .Values.rpc.allowedHosts
  "allowedOrigins" .Values.rpc.allowedOrigins
  "auth" (include "quorate.auth" . | fromJson) -}}
{{- if (.Values.rpc.tls).existingSecret -}}{{- $_ := set $rpc "tls" (include "quorate.tls" . | fromJson) -}}{{- end -}}
{{- if and (include "quorate.isPublic" .) (not (hasKey .Values.rpc.limits "clientRateMax")) -}}
{{- $_ := set $rpc "clientRateMax" 1000 -}}
{{- end -}}
{{- $_ := set $config "rpc" (merge $rpc .Values.rpc.limits) -}}
{{- if .Values.calls }}{{ $_ := set $config "calls" .Values.calls }}{{ end -}}
{{- $config | toPrettyJson -}}
{{- end -}}
