// The room of quirks that are the same in every protocol but Chat Completions, whose list has them all.

import type { ThinkTags } from "./leaks/think.ts";

/** Some quirks of a protocol. Null is the default, whatever is known of the server. */
export type Quirks<Compat> = { readonly [quirk in keyof Compat]?: Compat[quirk] | null };

/** Quirks that are not the codec's alone. */
export interface SharedCompat {
  /** Where the server takes the name of a session, to keep its requests together for its cache: a field, or a header (its name has a hyphen). Default: nowhere, `prompt_cache_key` at OpenAI and Azure. */
  affinity: string | null;
  /** A refusal without a word is about the request, every time; otherwise the request is sent again. Default: false (F181). */
  emptyRefusals: boolean;
  /**
   * Tokens that end a turn (`<|im_end|>`), and call tokens beside calls, may be left at the ends of texts: they are removed,
   * unless they occur in what others wrote in the conversation. Default: true, false at a vendor's own address (F236).
   */
  endTokens: boolean;
  /** Rules that are left out of a schema are described in the tool's description. Default: false (F137). */
  describeLostRules: boolean;
}

/** Quirks of the protocols whose texts are parsed and whose schemas may be plainer: all but Google's. */
export interface OpenCompat extends SharedCompat {
  /**
   * How thinking in a text is read: `leading` takes `<think>…</think>` blocks at the start of the answer as reasoning,
   * `starts_inside` is for chat templates that already opened the block, `nova` for Nova's `<thinking>`. Default: `none`, by
   * the model on Bedrock, `leading` on Ollama (F113).
   */
  thinkTags: "none" | ThinkTags;
  /**
   * Tool schemas are sent with shapes and enums only, without rules on values (`typed`: with exactly one type in every place);
   * arguments are validated against the original all the same. Default: false (F137).
   */
  plainSchemas: boolean | "typed";
}
