{{/* Who may use ethrpc: TLS, tokens, certificates, sign-in (docs/ethrpc.md, Access). */}}

{{- define "quorate.tls" -}}
{{- $tls := dict "cert" "/run/quorate/tls/tls.crt" "key" "/run/quorate/tls/tls.key" -}}
{{- with (.Values.rpc.tls).clientCertificates -}}
{{- $_ := set $tls "clientCa" "/run/quorate/tls/ca.crt" -}}
{{- $_ := set $tls "isClientCertRequired" (eq . "required") -}}
{{- end -}}
{{- $tls | toJson -}}
{{- end -}}

{{/* The settings of rpc.auth. Those that name files name keys of the Secret. Wallets may sign in under
     the names of the service, too. A load balancer without a limit opens what wallets and programs
     need, and neither traces nor the pool. */}}
{{- define "quorate.auth" -}}
{{- $auth := omit (.Values.rpc.auth | default dict) "existingSecret" -}}
{{- range $name := list "secretFile" "jwksFile" "signInSecretFile" -}}
{{- with get $auth $name -}}{{- $auth = merge (dict $name (printf "/run/quorate/auth/%s" .)) $auth -}}{{- end -}}
{{- end -}}
{{- if not (hasKey $auth "signInDomains") -}}
{{- $service := printf "client-0-ethrpc.%s" .Release.Namespace -}}
{{- $domains := list "localhost:*" "127.0.0.1:*" "[::1]:*" "client-0-ethrpc:*" (printf "%s:*" $service) (printf "%s.svc:*" $service) (printf "%s.svc.cluster.local:*" $service) -}}
{{- if .Values.ingress.enabled -}}{{- $domains = append $domains (printf "%s:*" .Values.ingress.host) -}}{{- end -}}
{{- $auth = merge (dict "signInDomains" $domains) $auth -}}
{{- end -}}
{{- if and (include "quorate.isPublic" .) (not (hasKey $auth "methods")) -}}
{{- $auth = merge (dict "methods" (list "eth_*" "net_*" "web3_*" "rpc_modules" "quorate_*")) $auth -}}
{{- end -}}
{{- $auth | toJson -}}
{{- end -}}

{{- define "quorate.scheme" -}}
{{- (.Values.rpc.tls).existingSecret | empty | ternary "http" "https" -}}
{{- end -}}

{{- define "quorate.checkAccess" -}}
{{- if and (.Values.rpc.tls).clientCertificates (not (.Values.rpc.tls).existingSecret) -}}
{{- fail "\n\nrpc.tls.clientCertificates needs rpc.tls.existingSecret: a Secret with tls.crt, tls.key and ca.crt.\n" -}}
{{- end -}}
{{- range $name := list "secretFile" "jwksFile" "signInSecretFile" -}}
{{- if and (get ($.Values.rpc.auth | default dict) $name) (not ($.Values.rpc.auth).existingSecret) -}}
{{- fail (printf "\n\nrpc.auth.%s names a key of a Secret. Name the Secret by rpc.auth.existingSecret.\n" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
