{{/*
Values files of the product that this one takes the place of (docs/migrate.md). A name that means
something here is taken under its old name, and NOTES says the new one. A name that asks for what
does not exist here is refused with a sentence.
*/}}

{{/* Build numbers of the old product (0.0.0.0.7849) name no image of this one. */}}
{{- define "quorate.carriedTag" -}}
{{- $tag := include "quorate.text" (.Values.global.image).tag -}}
{{- if not (regexMatch "^0\\.0\\.0\\.0\\." $tag) -}}{{ $tag }}{{- end -}}
{{- end -}}

{{/* One class for all replicas; the old chart could name one for each. */}}
{{- define "quorate.replicaStorageClass" -}}
{{- include "quorate.carriedStorageClass" . | default (include "quorate.storageClass" .) -}}
{{- end -}}

{{- define "quorate.carriedStorageClass" -}}
{{- $classes := list -}}
{{- range $_, $class := (.Values.storageClassNames).replica -}}
{{- with include "quorate.text" $class -}}{{- $classes = append $classes . -}}{{- end -}}
{{- end -}}
{{- $classes = uniq $classes -}}
{{- if gt (len $classes) 1 -}}
{{- fail (printf "\n\nstorageClassNames.replica names different classes (%s). All replicas use one here: set global.storageClass.\n" (join ", " (sortAlpha $classes))) -}}
{{- end -}}
{{- first $classes | default "" -}}
{{- end -}}

{{- define "quorate.replicaStorageSize" -}}
{{- include "quorate.text" .Values.resources.replica.storageRequest | default .Values.storage.replica.size -}}
{{- end -}}

{{- define "quorate.checkCarried" -}}
{{- $values := .Values -}}
{{- range $name, $value := dict
  "privacy.privacyEnabled" ($values.privacy).privacyEnabled
  "Privacy.privacyEnabled" ($values.Privacy).privacyEnabled
  "filteredPrivacy.ethFilteredPrivacyEnabled" ($values.filteredPrivacy).ethFilteredPrivacyEnabled -}}
{{- if eq "true" (toString $value) -}}
{{- fail (printf "\n\n%s is true, and there are no private transactions here: every transaction is seen by all replicas. Leave it out; read permissions (global.ethPermissioningReadEnabled) limit who may read through ethrpc.\n" $name) -}}
{{- end -}}
{{- end -}}
{{- if include "quorate.text" $values.genesisBlock.uttVirtualContractAddress -}}
{{- fail "\n\ngenesisBlock.uttVirtualContractAddress names the contract of private transactions, which do not exist here. Leave it out.\n" -}}
{{- end -}}
{{- if eq "true" (toString ($values.replicaCheckpointBackup).enabled) -}}
{{- fail "\n\nreplicaCheckpointBackup.enabled is true, and replicas write no backups of themselves here: a replica that lost its data fetches the chain from the others. Leave it out, and keep a copy of the keys (docs/deploy.md, Backup).\n" -}}
{{- end -}}
{{- if eq "true" (toString $values.global.maintenanceModeEnabled) -}}
{{- fail "\n\nglobal.maintenanceModeEnabled is true, and there is no maintenance mode here. Leave it out; to stop the network, scale its pods to 0: kubectl scale statefulset,deployment --selector app.kubernetes.io/instance=<release> --replicas 0\n" -}}
{{- end -}}
{{- if include "quorate.text" ($values.global.config).configOverride -}}
{{- fail "\n\nglobal.config.configOverride is given, and certificates are not part of the chart here: nodes make theirs of their keys. Leave it out; keys of your own go into a Secret (keys.existingSecret).\n" -}}
{{- end -}}
{{- $account := $values.serviceAccount | default dict -}}
{{- if or (eq "true" (toString $account.create)) $account.name $account.annotations $account.labels -}}
{{- fail "\n\nserviceAccount.* is given, and the pods here have service accounts of their own without any right, because they never talk to Kubernetes. Leave it out.\n" -}}
{{- end -}}
{{- include "quorate.checkCarriedContract" . -}}
{{- $_ := include "quorate.carriedStorageClass" . -}}
{{- end -}}

{{/* The old permission contract is told by the hash of its source, which its compiler put at the end. */}}
{{- define "quorate.checkCarriedContract" -}}
{{- $address := lower (include "quorate.text" .Values.genesisBlock.permissioningContractAddress) | trimPrefix "0x" -}}
{{- $known := list "57a268e7694371880a2c5881bd240db812bbfbf0" "0071756f726174652e7065726d697373696f6e73" "" -}}
{{- if not (has $address $known) -}}
{{- fail "\n\ngenesisBlock.permissioningContractAddress cannot be chosen: the permission contract is at 0x0071756F726174652E7065726d697373696f6E73 in every network. Leave it out, and change the address in your programs.\n" -}}
{{- end -}}
{{- $code := lower (include "quorate.text" .Values.genesisBlock.permissioningContractBin) -}}
{{- if and $code (not (hasSuffix "1220370e2f95d17db66d19fd6fbb067c54c2ee8e8bdb65c12a5b99536ec21114fe0b64736f6c634300080d0033" $code)) -}}
{{- fail "\n\ngenesisBlock.permissioningContractBin is a contract of your own, and the permission contract is part of the program here: replicas read its storage. Leave it out; docs/permissions.md says what the built-in contract can do.\n" -}}
{{- end -}}
{{- end -}}

{{/* What NOTES says about old names that were found, one line each. */}}
{{- define "quorate.carriedNotes" -}}
{{- $values := .Values -}}
{{- $lines := list -}}
{{- range $name, $value := $values.permissioning | default dict -}}
{{- $lines = append $lines (printf "permissioning.%s is taken as global.%s: its name here." $name $name) -}}
{{- end -}}
{{- with include "quorate.text" ($values.global.image).tag -}}
{{- if eq . (include "quorate.carriedTag" $) -}}
{{- $lines = append $lines "global.image.tag is taken as image.tag: its name here." -}}
{{- else -}}
{{- $lines = append $lines (printf "global.image.tag %s is a build of the old product and was not used. The image is %s; choose another by image.tag." . (include "quorate.image" $)) -}}
{{- end -}}
{{- end -}}
{{- if include "quorate.text" $values.global.imageCredentials.email -}}
{{- $lines = append $lines "global.imageCredentials.email went into the pull secret. It is not needed." -}}
{{- end -}}
{{- if include "quorate.text" $values.resources.replica.storageRequest -}}
{{- $lines = append $lines "resources.replica.storageRequest is taken as storage.replica.size: its name here." -}}
{{- end -}}
{{- if include "quorate.carriedStorageClass" . -}}
{{- $lines = append $lines "storageClassNames.replica is taken for the replicas. One class for all volumes is global.storageClass." -}}
{{- end -}}
{{- $plain := false -}}
{{- range $values.genesisBlock.alloc -}}{{- if kindIs "string" . -}}{{- $plain = true -}}{{- end -}}{{- end -}}
{{- if $plain -}}
{{- $lines = append $lines "genesisBlock.alloc names plain addresses: each is funded and administers permissions. With a balance of their own they are written as {address, balance}." -}}
{{- end -}}
{{- if contains "fb389874fb4e03182a7358275eaf78008775c7ed" (lower (include "quorate.alloc" .)) -}}
{{- $lines = append $lines "WARNING: genesisBlock.alloc names 0xFB389874FB4e03182A7358275eaf78008775c7ed, the old product's sample admin. Its private key is published, so any caller can administer permissions. Use an address of your own." -}}
{{- end -}}
{{- if or (include "quorate.text" $values.genesisBlock.permissioningContractAddress) (include "quorate.text" $values.genesisBlock.permissioningContractBin) -}}
{{- $lines = append $lines "genesisBlock.permissioningContract* was not used: the permission contract is built in, at 0x0071756F726174652E7065726d697373696f6E73, with checkUserAction and updatePermissions as before. Change the address in your programs." -}}
{{- end -}}
{{- if kindIs "string" $values.logManagement -}}
{{- $lines = append $lines "logManagement holds a placeholder and was not used. Give logManagement.endpoint_1.url, or nothing." -}}
{{- end -}}
{{- $unused := list -}}
{{- range $name := list "concord" "clientservice" "ethrpc" "fluentd" "telegraf" "operator" "storageClassNames" "serviceAccount" "privacy" "Privacy" "filteredPrivacy" "replicaCheckpointBackup" -}}
{{- if and (hasKey $values $name) (not (and (eq $name "storageClassNames") (include "quorate.carriedStorageClass" $))) -}}{{- $unused = append $unused $name -}}{{- end -}}
{{- end -}}
{{- if hasKey $values.global "sessionIdentifier" -}}{{- $unused = append $unused "global.sessionIdentifier" -}}{{- end -}}
{{- if hasKey $values.resources.replica "defaultCpuRequest" -}}{{- $unused = append $unused "resources.*.default*" -}}{{- end -}}
{{- if $unused -}}
{{- $lines = append $lines (printf "Without a meaning here, and not used: %s. One image (image.repository) holds all programs; metrics are at /metrics of every pod (monitoring.podMonitor)." (join ", " $unused)) -}}
{{- end -}}
{{- $lines | toJson -}}
{{- end -}}
