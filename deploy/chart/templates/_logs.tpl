{{/* Whether nodes send their logs, and where to (SPEC P8-P10, P15). */}}

{{/* The settings as JSON. A values file of the product before may hold a placeholder instead. */}}
{{- define "quorate.logSettings" -}}
{{- if kindIs "map" .Values.logManagement -}}{{ .Values.logManagement | toJson }}{{- else -}}{}{{- end -}}
{{- end -}}

{{- define "quorate.hasLogEndpoint" -}}
{{- range $name, $_ := include "quorate.logSettings" . | fromJson -}}
{{- if hasPrefix "endpoint_" $name -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* `auto` looks for the service of the log stack. Without a cluster (`helm template`) nothing is
     found. */}}
{{- define "quorate.logReason" -}}
{{- $enabled := get (include "quorate.logSettings" . | fromJson) "enabled" | toString -}}
{{- if eq $enabled "true" -}}on: logManagement.enabled is true
{{- else if include "quorate.hasLogEndpoint" . -}}on: an endpoint is given
{{- else if eq $enabled "false" -}}off: logManagement.enabled is false
{{- else if lookup "v1" "Service" "default" "logstash-logstash" -}}on: the log stack was found in the cluster (service logstash-logstash in the namespace default)
{{- else -}}off: no log stack was found in the cluster (service logstash-logstash in the namespace default)
{{- end -}}
{{- end -}}

{{- define "quorate.hasLogs" -}}
{{- if hasPrefix "on:" (include "quorate.logReason" .) -}}true{{- end -}}
{{- end -}}

{{/* Endpoints by name, with the default one where none is given, as JSON. */}}
{{- define "quorate.logEndpoints" -}}
{{- $endpoints := dict -}}
{{- range $name, $endpoint := include "quorate.logSettings" . | fromJson -}}
{{- if hasPrefix "endpoint_" $name -}}{{- $_ := set $endpoints $name ($endpoint | default dict) -}}{{- end -}}
{{- end -}}
{{- if not $endpoints -}}{{- $_ := set $endpoints "endpoint_1" dict -}}{{- end -}}
{{- $endpoints | toJson -}}
{{- end -}}

{{/* Without a port it is 8080. */}}
{{- define "quorate.logUrl" -}}
{{- $default := "http://logstash-logstash.default.svc.cluster.local" -}}
{{- $url := urlParse (.url | default $default) -}}
{{- if not (regexMatch ":[0-9]+$" $url.host) -}}{{- $_ := set $url "host" (printf "%s:8080" $url.host) -}}{{- end -}}
{{- urlJoin $url -}}
{{- end -}}

{{- define "quorate.logUsername" -}}
{{- include "quorate.text" .username | default (include "quorate.text" .userName) -}}
{{- end -}}

{{/* Variables of a container: where to send logs, and who it says it is. */}}
{{- define "quorate.logEnvironment" -}}
{{- $secret := include "quorate.logSecret" . -}}
{{- range $name, $endpoint := include "quorate.logEndpoints" . | fromJson }}
{{- $variable := printf "QUORATE_LOG_%s" (upper $name) }}
- name: {{ $variable }}_URL
  value: {{ include "quorate.logUrl" $endpoint | quote }}
{{- if include "quorate.logUsername" $endpoint }}
- name: {{ $variable }}_USERNAME
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ $name }}.username } }
- name: {{ $variable }}_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ $name }}.password } }
{{- end }}
{{- end }}
{{- end -}}
