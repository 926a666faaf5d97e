{{/* The accounts of the genesis, each in the form of the network file, as JSON: {"accounts": [...]}.
     A plain address, with or without 0x, is a funded account that administers permissions. */}}
{{- define "quorate.alloc" -}}
{{- $accounts := list -}}
{{- range .Values.genesisBlock.alloc -}}
{{- if or (kindIs "float64" .) (kindIs "int64" .) -}}
{{- fail "\n\ngenesisBlock.alloc holds a number. YAML takes an address of digits alone for one: write addresses in quotes, \"0x...\".\n" -}}
{{- end -}}
{{- $given := kindIs "map" . | ternary . (dict "address" .) -}}
{{- $address := printf "0x%s" (toString $given.address | trimPrefix "0x") -}}
{{- if not (regexMatch "^0x[0-9a-fA-F]{40}$" $address) -}}
{{- fail (printf "\n\ngenesisBlock.alloc: %q is no address. Write 20 bytes in hex, for example \"0x90F79bf6EB2c4f870365E785982E1f101E93b906\".\n" (toString $given.address)) -}}
{{- end -}}
{{- $isCarried := or (hasKey $given "code") (hasKey $given "storage") (hasKey $given "nonce") (eq "false" (toString $given.isAdmin)) -}}
{{- $account := dict "address" $address "balance" (include "quorate.text" $given.balance | default ($isCarried | ternary "0" "9223372036854775807")) -}}
{{- with include "quorate.text" $given.nonce -}}{{- $_ := set $account "nonce" . -}}{{- end -}}
{{- with $given.code -}}{{- $_ := set $account "code" . -}}{{- end -}}
{{- with $given.storage -}}{{- $_ := set $account "storage" . -}}{{- end -}}
{{- if or (hasKey $given "code") (eq "false" (toString $given.isAdmin)) -}}{{- $_ := set $account "isAdmin" (eq "true" (toString $given.isAdmin)) -}}{{- end -}}
{{- $accounts = append $accounts $account -}}
{{- end -}}
{{- dict "accounts" $accounts | toJson -}}
{{- end -}}

{{/* Without an account that administers permissions, the init Job makes one. */}}
{{- define "quorate.makesAdmin" -}}
{{- $admins := list -}}
{{- range (include "quorate.alloc" . | fromJson).accounts -}}
{{- if not (eq "false" (toString .isAdmin)) -}}{{- $admins = append $admins .address -}}{{- end -}}
{{- end -}}
{{- if not $admins -}}true{{- end -}}
{{- end -}}
