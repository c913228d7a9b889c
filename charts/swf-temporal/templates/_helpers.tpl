{{- define "swf.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* The labels by which the pods of a part are found, from a dict of root and name. */}}
{{- define "swf.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "swf.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "swf.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "swf.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{/* Who controls the replicas of a part: the scaler, if there is one. */}}
{{- define "swf.scaled" -}}
{{- if ne .part.scaling.type "none" }}yes{{ end }}
{{- end }}

{{/* The volume with the definitions; nothing if the image has them. */}}
{{- define "swf.definitions" -}}
{{- with .Values.definitions }}
{{- $sources := 0 }}
{{- range list .files .configMap .persistentVolumeClaim .git.repository }}{{ if . }}{{ $sources = add $sources 1 }}{{ end }}{{ end }}
{{- if gt $sources 1 }}{{ fail "definitions come from one of files, configMap, persistentVolumeClaim and git.repository" }}{{ end }}
{{- if .files }}
configMap: {name: {{ include "swf.name" $ }}-definitions}
{{- else if .configMap }}
configMap: {name: {{ .configMap }}}
{{- else if .persistentVolumeClaim }}
persistentVolumeClaim: {claimName: {{ .persistentVolumeClaim }}, readOnly: true}
{{- else if .git.repository }}
emptyDir: {}
{{- end }}
{{- end }}
{{- end }}

{{- define "swf.image" -}}
{{- $name := required "image.repository: the image, with its registry" .Values.image.repository }}
{{- with .Values.image }}{{ $name }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{- define "swf.unprivileged" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
