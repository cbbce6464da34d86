// The room of how a server that speaks Messages may differ from Anthropic's own, and a model there from what its name says.

import type { OpenCompat } from "../shared-compat.ts";
import type { Traits } from "./traits.ts";

/** The quirks that Messages reads from `Target.compat`, besides the traits of its models. */
export interface AnthropicOwnCompat {
  /** Whether cache marks are set: only if asked for (`false`), or not even then (`never`). Default: always. */
  cache: boolean | "never";
  /** Reasoning is sent back as thinking without a signature too. Default: false. */
  unsignedThinking: boolean;
  /** The text of thinking that is added to a turn with calls which has none. Default: nothing is added. */
  thinkingFill: string | null;
  /** The server leaves out earlier thinking that no longer fits what stands before it, and says so, in place of refusing it. Default: false. */
  unbindsThinking: boolean;
  /** Levels of effort that the model does not have, of `xhigh` and `max`. Default: by its name. */
  lacksLevels: string[];
  /** Roles must alternate: neighbours of the same role are merged. Default: false (F128). */
  alternate: boolean;
  /** A user may speak only after an answer to the results. Default: false (F046). */
  resultsAlone: boolean;
  /** Whether calls can be forbidden while tools are declared; otherwise what the model calls is ignored. Default: true. */
  noneChoice: boolean;
  /** Call ids that contain a thought signature, as LiteLLM makes them, are sent back whole. Default: false (F106). */
  signedIds: boolean;
  /** Whether the server fetches files from their addresses; otherwise one with nothing but an address becomes a note. Default: true, false on Vertex AI and Bedrock. */
  fetchesUrls: boolean;
  /** Whether a paused answer can be continued as it is; otherwise a short user message continues it, without the calls that were open in it. Default: true. */
  resumesPauses: boolean;
  /** `turn`: no container is named once a user message followed it. Default: until it has expired. */
  containers: "turn";
  /** Types of the server's own blocks that it does not take back: they are left out. Default: none. */
  refusedBlocks: string[];
  /** Members of blocks that the server does not take back, e.g. `["compaction.encrypted_content"]`: they are left out. Default: none. */
  refusedMembers: string[];
}

/** The quirks of a Messages server. */
export interface AnthropicCompat extends Traits, AnthropicOwnCompat, OpenCompat {}
