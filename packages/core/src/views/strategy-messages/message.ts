// The room of the strategy message: what the view of an agent strategy emits, and the options it needs for that.

import type { FilePart, JsonObject } from "../../message.ts";
import type { Model } from "../../model.ts";
import type { LogForm } from "./logs.ts";
import type { ContextItem, StrategyPrice } from "./metadata.ts";

export type StrategyMessage =
  | { type: "text"; text: string }
  /** A log that starts or is finished: both messages have the same `id`. Times are in seconds since 1970. */
  | {
      type: "log";
      id: string;
      label: string;
      parent_id?: string;
      status: "start" | "success" | "error";
      data: JsonObject;
      metadata: JsonObject;
      error?: string;
    }
  /** `blob` is base64. */
  | { type: "blob"; blob: string; meta: { mime_type: string; filename: string } }
  /** An image or a file as the tool gave it. */
  | { type: "file"; file: FilePart }
  | { type: "retriever_resources"; retriever_resources: JsonObject[]; context: string }
  | { type: "json"; json: JsonObject };

export interface StrategyViewOptions extends LogForm {
  /** As for the preset. Default: 6. */
  maximumIterations?: number;
  /** Whether thoughts, and the text of rounds with calls, are emitted. Default: true. */
  emitIntermediateThoughts?: boolean;
  /** Knowledge that the run was given: emitted as one message before the metadata. Null or absent: none. */
  context?: readonly ContextItem[] | null;
  /** Used for its price if `prices` has none. */
  model?: Model;
  /** By the provider's model id. */
  prices?: Readonly<Record<string, StrategyPrice>>;
  /** The provider of a tool, by the tool's name, for the metadata of its log. Default: none. */
  toolProviders?: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. Default: the host's clock. */
  now?: () => number;
}
