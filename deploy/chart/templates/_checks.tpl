{{/*
What a schema cannot say, or cannot say in words that help. Every manifest that is always rendered
could include this; replica-statefulset.yaml does.
*/}}

{{- define "quorate.check" -}}
{{- include "quorate.checkName" . -}}
{{- include "quorate.checkCredentials" . -}}
{{- include "quorate.checkCarried" . -}}
{{- include "quorate.checkTimestamp" . -}}
{{- include "quorate.checkGenesis" . -}}
{{- include "quorate.checkLogs" . -}}
{{- include "quorate.checkIngress" . -}}
{{- include "quorate.checkAccess" . -}}
{{- include "quorate.checkNeighbour" . -}}
{{- include "quorate.checkFounded" . -}}
{{- end -}}

{{/* Kubernetes cuts the name of a Deployment's pod at 63 characters, of which 17 are its own. */}}
{{- define "quorate.checkName" -}}
{{- if gt (len .Release.Name) 23 -}}
{{- fail (printf "\n\nThe release name %q has %d characters. Use at most 23: the pods are named <release>-client-0-clientservice-<suffix>-<suffix>, and Kubernetes allows 63.\n" .Release.Name (len .Release.Name)) -}}
{{- end -}}
{{- if contains "." .Release.Name -}}
{{- fail (printf "\n\nThe release name %q contains a dot, which names of services cannot. Use letters, digits and dashes.\n" .Release.Name) -}}
{{- end -}}
{{- end -}}

{{- define "quorate.checkCredentials" -}}
{{- $missing := list -}}
{{- $credentials := .Values.global.imageCredentials -}}
{{- $needed := list "registry" -}}
{{- if not .Values.global.imagePullSecrets -}}{{- $needed = list "registry" "username" "password" -}}{{- end -}}
{{- range $needed -}}
{{- if not (include "quorate.text" (get $credentials .)) -}}
{{- $missing = append $missing (printf "global.imageCredentials.%s" .) -}}
{{- end -}}
{{- end -}}
{{- if $missing -}}
{{- fail (printf "\n\nMissing: %s.\nThe image is pulled from a registry that asks who you are. Add:\n  --set global.imageCredentials.registry=<host> --set global.imageCredentials.username=<name> --set global.imageCredentials.password=<password>\n" (join ", " $missing)) -}}
{{- end -}}
{{- if and (include "quorate.text" $credentials.username) (not (include "quorate.text" $credentials.password)) -}}
{{- fail "\n\nglobal.imageCredentials.username is given without global.imageCredentials.password.\n" -}}
{{- end -}}
{{- end -}}

{{- define "quorate.checkTimestamp" -}}
{{- $given := include "quorate.text" .Values.genesisBlock.timestamp -}}
{{- $form := "2006-01-02 15:04:05" -}}
{{- $isForm := regexMatch "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$" $given -}}
{{- if not $isForm -}}
{{- fail (printf "\n\ngenesisBlock.timestamp is %q. Write it as YYYY-MM-DD hh:mm:ss, in UTC and 24 hours, for example \"2022-12-02 00:01:00\".\n" $given) -}}
{{- end -}}
{{- /* A day or hour that does not exist gives the zero time, whose year is 1. */ -}}
{{- if and (hasPrefix "0001" (toDate $form $given | date $form)) (not (hasPrefix "0001" $given)) -}}
{{- fail (printf "\n\ngenesisBlock.timestamp is %q, which is no date. Write it as YYYY-MM-DD hh:mm:ss, in UTC and 24 hours.\n" $given) -}}
{{- end -}}
{{- if gt $given (dateInZone $form now "UTC") -}}
{{- fail (printf "\n\ngenesisBlock.timestamp is %q, which is in the future. Give a time (UTC) that has passed.\n" $given) -}}
{{- end -}}
{{- end -}}

{{- define "quorate.checkGenesis" -}}
{{- $seen := dict -}}
{{- range (include "quorate.alloc" . | fromJson).accounts -}}
{{- $address := lower .address -}}
{{- if hasKey $seen $address -}}
{{- fail (printf "\n\ngenesisBlock.alloc names %s twice.\n" .address) -}}
{{- end -}}
{{- $_ := set $seen $address true -}}
{{- end -}}
{{- end -}}

{{- define "quorate.checkLogs" -}}
{{- $logs := include "quorate.logSettings" . | fromJson -}}
{{- if and (eq (get $logs "enabled" | toString) "false") (include "quorate.hasLogEndpoint" .) -}}
{{- fail "\n\nlogManagement.enabled is false, but an endpoint is given. Leave one of the two out.\n" -}}
{{- end -}}
{{- range $name, $endpoint := $logs -}}
{{- if and (hasPrefix "endpoint_" $name) $endpoint -}}
{{- if and $endpoint.url (not (regexMatch "^https?://[^/@?#\\s]+([/?#]\\S*)?$" $endpoint.url)) -}}
{{- fail (printf "\n\nlogManagement.%s.url is %q. Write http://host, http://host:port or https://host:port, and give user name and password by their own parameters.\n" $name $endpoint.url) -}}
{{- end -}}
{{- if and (include "quorate.text" $endpoint.password) (not (include "quorate.logUsername" $endpoint)) -}}
{{- fail (printf "\n\nlogManagement.%s.password is given without logManagement.%s.username. HTTP basic authentication sends both; a port belongs into the URL (logManagement.%s.url=http://host:port).\n" $name $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "quorate.checkIngress" -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "\n\ningress.enabled is true, but ingress.host is empty. Give the name under which ethrpc is reached.\n" -}}
{{- end -}}
{{- end -}}

{{/* The service's name is part of the interface, so there is room for one network in a namespace.
     Nothing is looked up without a cluster (`helm template`). */}}
{{- define "quorate.checkNeighbour" -}}
{{- $service := lookup "v1" "Service" .Release.Namespace "client-0-ethrpc" -}}
{{- if $service -}}
{{- $owner := get (($service.metadata).annotations | default dict) "meta.helm.sh/release-name" -}}
{{- if ne $owner .Release.Name -}}
{{- fail (printf "\n\nThe namespace %q has a network already (%s): its service client-0-ethrpc is there. Install this one into a namespace of its own: helm install %s . --namespace %s --create-namespace ...\n" .Release.Namespace (printf "release %q" $owner) .Release.Name .Release.Name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The init Job compares everything, also where Helm cannot look. Here the most usual differences
     are reported at once, in the answer of helm itself. */}}
{{- define "quorate.checkFounded" -}}
{{- $secret := lookup "v1" "Secret" .Release.Namespace (include "quorate.networkSecret" .) -}}
{{- if $secret -}}
{{- $network := index ($secret.data | default dict) "network.json" | default "" | b64dec | fromJson -}}
{{- $stored := $network.genesis | default dict -}}
{{- $wanted := dict
  "genesisBlock.config.chainId" (list "chainId" (include "quorate.text" .Values.genesisBlock.config.chainId))
  "genesisBlock.timestamp" (list "timestamp" .Values.genesisBlock.timestamp)
  "genesisBlock.gasLimit" (list "gasLimit" (include "quorate.text" .Values.genesisBlock.gasLimit))
  "global.ethPermissioningWriteEnabled" (list "isWritePermissioned" (include "quorate.isWritePermissioned" .))
  "global.ethPermissioningReadEnabled" (list "isReadPermissioned" (include "quorate.isReadPermissioned" .)) -}}
{{- $differences := list -}}
{{- range $parameter, $pair := $wanted -}}
{{- $kept := include "quorate.text" (get $stored (index $pair 0)) -}}
{{- if and $kept (ne $kept (index $pair 1)) -}}
{{- $differences = append $differences (printf "  %s: the network has %s, this asks for %s" $parameter $kept (index $pair 1)) -}}
{{- end -}}
{{- end -}}
{{- if $differences -}}
{{- fail (printf "\n\nThe genesis of a network never changes, and release %q has one in this namespace (Secret %s):\n%s\nGive these values as they were, or install under another name. To give this network up and start afresh, delete its data and its keys for good, then install again:\n\n%s\n" .Release.Name (include "quorate.networkSecret" .) (join "\n" $differences) (include "quorate.deleteCommands" .)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
