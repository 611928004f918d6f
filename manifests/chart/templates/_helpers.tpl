{{/*
stowage.plain (list $ FILE): a file of manifests/, in the release's namespace. Objects keep their names whatever the
release's: there is one Stowage in a cluster, and it knows its Services, Secrets and webhooks by name.
*/}}
{{- define "stowage.plain" -}}
{{- $root := index . 0 -}}
{{- $file := printf "plain/%s" (index . 1) -}}
{{- required (printf "the chart lacks %s" $file) ($root.Files.Get $file) | replace "stowage-system" $root.Release.Namespace -}}
{{- end -}}

{{/* stowage.image VALUES: REPOSITORY:TAG or REPOSITORY@DIGEST. */}}
{{- define "stowage.image" -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag }}
{{- end -}}
{{- end -}}

{{/*
stowage.podCIDRs $: addresses of the cluster's pods as a JSON list: those of the values, else those that the Nodes state. Empty
without a cluster (helm template), and where Nodes state none, as with some network plugins.
*/}}
{{- define "stowage.podCIDRs" -}}
{{- $all := .Values.networkPolicy.podCIDRs -}}
{{- if not $all -}}
{{- range (lookup "v1" "Node" "" "").items -}}
{{- range .spec.podCIDRs -}}
{{- $all = append $all . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $all | uniq | sortAlpha | toJson -}}
{{- end -}}

{{/* stowage.args $: what the values add to the flags of `stowage serve`, as a JSON list. */}}
{{- define "stowage.args" -}}
{{- $args := list -}}
{{- if eq .Values.placement "nominate" -}}
{{- $args = append $args "--placement=nominate" -}}
{{- end -}}
{{- if .Values.admission.strict -}}
{{- $args = append $args "--strict-admission" -}}
{{- end -}}
{{- $gates := list -}}
{{- range $name, $on := .Values.featureGates -}}
{{- $gates = append $gates (printf "%s=%t" $name $on) -}}
{{- end -}}
{{- if $gates -}}
{{- $args = append $args (printf "--feature-gates=%s" (join "," $gates)) -}}
{{- end -}}
{{- if .Values.clusterAPIPools -}}
{{- $args = append $args "--cluster-api-pools" -}}
{{- end -}}
{{- with .Values.nodeGroups.provider -}}
{{- $args = append $args (printf "--cloud-provider=%s" .) -}}
{{- end -}}
{{- concat $args .Values.nodeGroups.args .Values.extraArgs | toJson -}}
{{- end -}}
