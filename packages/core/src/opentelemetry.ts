// The exports of @rondo/core/opentelemetry: a run as spans. The caller passes in OpenTelemetry's API; there is no dependency on it.

export {
  type OpenTelemetry,
  type TracedOptions,
  type Tracer,
  type TraceSpan,
  traced,
} from "./views/spans.ts";
