{{/* The template of the pods of a part, from a dict of root, name and part. */}}
{{- define "swf.pod" -}}
{{- $values := .root.Values }}
{{- $definitions := include "swf.definitions" .root }}
{{- $git := $values.definitions.git }}
{{- $isControlled := and (eq .name "worker") $values.workerController.enabled }}
{{- $hasTls := and $values.temporal.tls.secret (not $isControlled) }}
{{- $annotations := dict "checksum/config" (include (print .root.Template.BasePath "/configmaps.yaml") .root | sha256sum) }}
{{- if and $values.metrics.enabled (not $values.metrics.serviceMonitor.enabled) }}
{{- $annotations = merge $annotations (dict "prometheus.io/scrape" "true" "prometheus.io/port" (toString $values.metrics.port)) }}
{{- end }}
metadata:
  labels:
    {{- include "swf.selector" . | nindent 4 }}
    {{- with merge dict .part.podLabels $values.labels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations: {{ toYaml (merge dict .part.podAnnotations $annotations) | nindent 4 }}
spec:
  serviceAccountName: {{ include "swf.account" .root }}
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ .part.terminationGracePeriodSeconds }}
  {{- with .part.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext: {{ include "swf.user" .root | nindent 4 }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- if $git.repository }}
  initContainers:
    - name: definitions
      image: {{ $git.image }}
      args:
        - --one-time
        - --depth=1
        - --repo={{ $git.repository }}
        - --ref={{ $git.ref }}
        - --root=/definitions/git
        - --link=checkout
      env:
        - {name: HOME, value: /tmp}
        {{- if $git.secret }}
        - name: GITSYNC_USERNAME
          valueFrom: {secretKeyRef: {name: {{ $git.secret }}, key: username}}
        - name: GITSYNC_PASSWORD
          valueFrom: {secretKeyRef: {name: {{ $git.secret }}, key: password}}
        {{- end }}
      resources: {{ toYaml $git.resources | nindent 8 }}
      securityContext: {{ include "swf.unprivileged" . | nindent 8 }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: definitions, mountPath: /definitions}
  {{- end }}
  containers:
    - name: {{ .name }}
      image: {{ include "swf.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      workingDir: {{ if $git.repository }}{{ clean (printf "/definitions/git/checkout/%s" $git.folder) }}{{ else }}/definitions{{ end }}
      args:
        - {{ get (dict "worker" "worker" "gateway" "gateway" "consumer" "consume") .name }}
        {{- if eq .name "gateway" }}
        - --host=0.0.0.0
        - --port=8080
        {{- end }}
        {{- if $values.metrics.enabled }}
        - --metrics=0.0.0.0:{{ $values.metrics.port }}
        {{- end }}
        - --task-queue={{ $values.temporal.taskQueue }}
        {{- if $isControlled }}
        - --deployment=$(TEMPORAL_DEPLOYMENT_NAME)
        - --build-id=$(TEMPORAL_WORKER_BUILD_ID)
        {{- end }}
        {{- if .part.searchAttributes }}
        - --search-attributes
        {{- end }}
        {{- range .part.args }}
        - {{ . | quote }}
        {{- end }}
      env:
        - {name: SWF_HEALTH_PORT, value: "8080"}
        {{- if not $isControlled }}{{ include "swf.connection" .root | nindent 8 }}{{ end }}
        {{- if $values.config }}
        - {name: SWF_CONFIG, value: /config/swf.yaml}
        {{- end }}
        {{- with concat $values.env .part.env }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- with $values.envFrom }}
      envFrom: {{ toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - {name: http, containerPort: 8080}
        {{- if $values.metrics.enabled }}
        - {name: metrics, containerPort: {{ $values.metrics.port }}}
        {{- end }}
      startupProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      resources: {{ toYaml .part.resources | nindent 8 }}
      securityContext: {{ include "swf.unprivileged" . | nindent 8 }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- if $definitions }}
        - {name: definitions, mountPath: /definitions, readOnly: true}
        {{- end }}
        {{- if $values.config }}
        - {name: config, mountPath: /config, readOnly: true}
        {{- end }}
        {{- if $hasTls }}
        - {name: tls, mountPath: /tls, readOnly: true}
        {{- end }}
        {{- with concat $values.volumeMounts .part.volumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - {name: tmp, emptyDir: {}}
    {{- with $definitions }}
    - name: definitions {{- . | nindent 6 }}
    {{- end }}
    {{- if $values.config }}
    - {name: config, configMap: {name: {{ include "swf.name" .root }}-config}}
    {{- end }}
    {{- if $hasTls }}
    - {name: tls, secret: {secretName: {{ $values.temporal.tls.secret }}, defaultMode: 0440}}
    {{- end }}
    {{- with concat $values.volumes .part.volumes }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
  {{- with index $.part $key }}
  {{ $key }}: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}
