{{/* Names, labels and small readers of values. */}}

{{- define "quorate.replicaSet" -}}{{ .Release.Name }}-replica{{- end -}}
{{- define "quorate.replicaService" -}}{{ .Release.Name }}-replicas{{- end -}}
{{- define "quorate.client" -}}{{ .Release.Name }}-client-0-clientservice{{- end -}}
{{- define "quorate.initJob" -}}{{ .Release.Name }}-init{{- end -}}
{{- define "quorate.keysSecret" -}}
{{- .Values.keys.existingSecret | default (printf "%s-keys" .Release.Name) -}}
{{- end -}}
{{- define "quorate.adminSecret" -}}{{ .Release.Name }}-admin{{- end -}}
{{- define "quorate.networkSecret" -}}{{ .Release.Name }}-network{{- end -}}
{{- define "quorate.logSecret" -}}{{ .Release.Name }}-log-endpoints{{- end -}}

{{- define "quorate.blockchainId" -}}
{{- include "quorate.text" .Values.global.blockchainId | default .Release.Name -}}
{{- end -}}

{{- define "quorate.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: quorate
{{ include "quorate.selector" . }}
{{- end -}}

{{/* What never changes about an object: selectors cannot. */}}
{{- define "quorate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* --set and YAML make numbers and booleans out of 12345 and true: they are texts here. A file's
     number is a float, which would be printed with an exponent. */}}
{{- define "quorate.text" -}}
{{- if kindIs "float64" . -}}{{ printf "%.0f" . }}{{- else if not (kindIs "invalid" .) -}}{{ toString . }}{{- end -}}
{{- end -}}

{{/* The registry as images name it: no scheme, no slash at the end. */}}
{{- define "quorate.registry" -}}
{{- include "quorate.text" .Values.global.imageCredentials.registry | trimPrefix "https://" | trimPrefix "http://" | trimSuffix "/" -}}
{{- end -}}

{{- define "quorate.image" -}}
{{- $name := printf "%s/%s" (include "quorate.registry" .) .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $name }}@{{ .Values.image.digest }}
{{- else -}}
{{ $name }}:{{ include "quorate.text" .Values.image.tag | default (include "quorate.carriedTag" .) | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "quorate.hasCredentials" -}}
{{- if and (include "quorate.text" .Values.global.imageCredentials.username) (include "quorate.text" .Values.global.imageCredentials.password) -}}true{{- end -}}
{{- end -}}

{{- define "quorate.dockerConfig" -}}
{{- $username := include "quorate.text" .Values.global.imageCredentials.username -}}
{{- $password := include "quorate.text" .Values.global.imageCredentials.password -}}
{{- $auth := printf "%s:%s" $username $password | b64enc -}}
{{- $entry := dict "username" $username "password" $password "auth" $auth -}}
{{- with include "quorate.text" .Values.global.imageCredentials.email -}}{{- $_ := set $entry "email" . -}}{{- end -}}
{{- dict "auths" (dict (include "quorate.registry" .) $entry) | toJson -}}
{{- end -}}

{{/* The pull secrets of a pod; `secret` is the one that is made of the credentials. */}}
{{- define "quorate.imagePullSecrets" -}}
imagePullSecrets:
{{- if include "quorate.hasCredentials" .root }}
  - name: {{ .secret }}
{{- end }}
{{- range .root.Values.global.imagePullSecrets }}
  - name: {{ . }}
{{- end }}
{{- end -}}

{{/* Deletes what an uninstall keeps. */}}
{{- define "quorate.deleteCommands" -}}
{{- $namespace := .Release.Namespace }}
   kubectl delete pvc --selector app.kubernetes.io/instance={{ .Release.Name }} --namespace {{ $namespace }}
   kubectl delete secret {{ if not .Values.keys.existingSecret }}{{ include "quorate.keysSecret" . }} {{ end }}{{ include "quorate.networkSecret" . }} {{ include "quorate.adminSecret" . }} --ignore-not-found --namespace {{ $namespace }}
{{- end -}}

{{- define "quorate.isWritePermissioned" -}}
{{- or .Values.global.ethPermissioningWriteEnabled (eq "true" (include "quorate.text" (.Values.permissioning).ethPermissioningWriteEnabled)) | ternary "true" "false" -}}
{{- end -}}

{{- define "quorate.isReadPermissioned" -}}
{{- or .Values.global.ethPermissioningReadEnabled (eq "true" (include "quorate.text" (.Values.permissioning).ethPermissioningReadEnabled)) | ternary "true" "false" -}}
{{- end -}}

{{- define "quorate.storageClass" -}}
{{- .Values.global.storageClassName | default .Values.global.storageClass -}}
{{- end -}}

{{- define "quorate.resources" -}}
resources:
  requests:
    cpu: {{ include "quorate.text" .cpuRequest | quote }}
    memory: {{ include "quorate.text" .memoryRequest | quote }}
  limits:
    cpu: {{ include "quorate.text" .cpuLimit | quote }}
    memory: {{ include "quorate.text" .memoryLimit | quote }}
{{- end -}}

{{- define "quorate.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* Asked of the health server that every node has. The first start may have blocks to replay. */}}
{{- define "quorate.probes" -}}
startupProbe:
  httpGet: { path: /live, port: health }
  periodSeconds: 1
  timeoutSeconds: 5
  failureThreshold: 600
livenessProbe:
  httpGet: { path: /live, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /ready, port: health }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 3
{{- end -}}

{{/* Placement of a pod: what the operator gave, else the rules of the chart. */}}
{{- define "quorate.placement" -}}
{{- with .settings.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .settings.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A load balancer without a limit of any kind. */}}
{{- define "quorate.isPublic" -}}
{{- $annotations := .Values.service.annotations | default dict -}}
{{- $scheme := get $annotations "service.beta.kubernetes.io/aws-load-balancer-scheme" | toString -}}
{{- $internal := get $annotations "service.beta.kubernetes.io/aws-load-balancer-internal" | toString -}}
{{- $asks := or (.Values.rpc.auth).required (eq (toString (.Values.rpc.tls).clientCertificates) "required") -}}
{{- if and (not $asks) (eq .Values.service.type "LoadBalancer") (not .Values.service.loadBalancerSourceRanges) (ne $scheme "internal") (ne $internal "true") -}}true{{- end -}}
{{- end -}}
