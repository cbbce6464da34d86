// The room of the strategy message: what the view of an agent strategy says, and what it must be told to say it.

import type { FilePart, JsonObject } from "../../message.ts";
import type { Model } from "../../model.ts";
import type { LogForm } from "./logs.ts";
import type { ContextItem, StrategyPrice } from "./metadata.ts";

export type StrategyMessage =
  | { type: "text"; text: string }
  /** A log that starts or is finished; both have the same `id`. Times are in seconds since 1970. */
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
  /** As the preset's. Default: 6. */
  maximumIterations?: number;
  /** Whether thoughts are shown, and the text of rounds with calls. Default: true. */
  emitIntermediateThoughts?: boolean;
  /** Knowledge the run was given: told as one message before the metadata. Null or absent: none. */
  context?: readonly ContextItem[] | null;
  /** Its facts hold a price, when `prices` does not. */
  model?: Model;
  /** By the provider's model id. */
  prices?: Readonly<Record<string, StrategyPrice>>;
  /** Who provides a tool, by the tool's name, for the metadata of its log. Default: nobody. */
  toolProviders?: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. Default: the host's clock. */
  now?: () => number;
}
