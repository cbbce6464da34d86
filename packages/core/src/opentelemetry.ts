// The face of @rondo/core/opentelemetry: a run as spans. It takes OpenTelemetry's API from whoever calls it, and depends on none.

export {
  type OpenTelemetry,
  type TracedOptions,
  type TraceSpan,
  traced,
} from "./views/spans.ts";
