{{/* The name that labels have. */}}
{{- define "swf.part-of" -}}
{{- .Values.nameOverride | default .Chart.Name }}
{{- end }}

{{/* The name that every object begins with; 50 characters leave room for an ending. */}}
{{- define "swf.name" -}}
{{- $own := include "swf.part-of" . }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains $own .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $own | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* The labels by which the pods of all parts are found. */}}
{{- define "swf.all" -}}
app.kubernetes.io/name: {{ include "swf.part-of" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The labels by which the pods of a part are found, from a dict of root and name. */}}
{{- define "swf.selector" -}}
{{ include "swf.all" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* The labels by which the pod of `helm test` is found: not those of a part. */}}
{{- define "swf.test-selector" -}}
app.kubernetes.io/name: {{ include "swf.part-of" . }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The metadata of an object, from a dict of root, name, and perhaps component, labels and annotations of its own. */}}
{{- define "swf.metadata" -}}
name: {{ .name }}
labels:
  {{- include "swf.all" .root | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
  {{- with .component }}
  app.kubernetes.io/component: {{ . }}
  {{- end }}
  {{- with merge dict (.labels | default dict) .root.Values.labels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with merge dict (.annotations | default dict) .root.Values.annotations }}
annotations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "swf.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "swf.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{/* The volume with the definitions; nothing if the image has them. */}}
{{- define "swf.definitions" -}}
{{- with .Values.definitions }}
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
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{/* The variables by which a command finds the Temporal server. */}}
{{- define "swf.connection" -}}
{{- with .Values.temporal }}
- {name: TEMPORAL_ADDRESS, value: {{ .address | quote }}}
- {name: TEMPORAL_NAMESPACE, value: {{ .namespace | quote }}}
{{- if .apiKeySecret.name }}
- name: TEMPORAL_API_KEY
  valueFrom: {secretKeyRef: {name: {{ .apiKeySecret.name }}, key: {{ .apiKeySecret.key }}}}
{{- end }}
{{- if .tls.secret }}
- {name: TEMPORAL_TLS, value: "true"}
- {name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /tls/tls.crt}
- {name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /tls/tls.key}
{{- if .tls.authority }}
- {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /tls/ca.crt}
{{- end }}
{{- end }}
{{- if .tls.serverName }}
- {name: TEMPORAL_TLS_SERVER_NAME, value: {{ .tls.serverName }}}
{{- end }}
{{- end }}
{{- end }}

{{/* The user of all pods. Without one, the platform assigns it, and the group of the volumes. */}}
{{- define "swf.user" -}}
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "swf.unprivileged" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* The seconds of a number, a duration of ISO 8601, or one of Prometheus; nothing if it is none. */}}
{{- define "swf.seconds" -}}
{{- $text := toString . | upper }}
{{- if regexMatch `^[0-9.]+$` $text }}{{ $text }}
{{- else if regexMatch `^P?([0-9]+D)?T?([0-9.]+H)?([0-9.]+M)?([0-9.]+S)?$` $text }}
{{- $seconds := 0 }}
{{- range regexFindAll `[0-9.]+[DHMS]` $text -1 }}
{{- $seconds = addf $seconds (mulf (substr 0 (sub (len .) 1 | int) .) (get (dict "D" 86400 "H" 3600 "M" 60 "S" 1) (trunc -1 .))) }}
{{- end }}
{{- $seconds }}
{{- end }}
{{- end }}

{{/* The number that a quantity of Kubernetes is; nothing if it is none. */}}
{{- define "swf.quantity" -}}
{{- $text := toString . }}
{{- $units := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- $unit := regexFind `[a-zA-Z]*$` $text }}
{{- if and (hasKey $units $unit) (regexMatch `^[0-9.]+[a-zA-Z]*$` $text) }}{{ mulf (trimSuffix $unit $text) (get $units $unit) }}{{ end }}
{{- end }}
