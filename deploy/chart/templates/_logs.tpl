{{/* The variant with logging (SPEC P8-P10, P15). */}}

{{- define "quorate.hasLogEndpoint" -}}
{{- range $name, $_ := .Values.logManagement -}}
{{- if hasPrefix "endpoint_" $name -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- define "quorate.hasLogs" -}}
{{- if or .Values.logManagement.enabled (include "quorate.hasLogEndpoint" .) -}}true{{- end -}}
{{- end -}}

{{/* Endpoints by name, with the default one where none is given, as JSON. */}}
{{- define "quorate.logEndpoints" -}}
{{- $endpoints := dict -}}
{{- range $name, $endpoint := .Values.logManagement -}}
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

{{/* Variables of a container: where to send logs, and who it says it is. */}}
{{- define "quorate.logEnvironment" -}}
{{- $secret := include "quorate.logSecret" . -}}
{{- range $name, $endpoint := include "quorate.logEndpoints" . | fromJson }}
{{- $variable := printf "QUORATE_LOG_%s" (upper $name) }}
- name: {{ $variable }}_URL
  value: {{ include "quorate.logUrl" $endpoint | quote }}
{{- if include "quorate.text" $endpoint.username }}
- name: {{ $variable }}_USERNAME
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ $name }}.username } }
- name: {{ $variable }}_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ $name }}.password } }
{{- end }}
{{- end }}
{{- end -}}
