// The room of how a model behind Converse may differ from what its name says.

import type { AnthropicOwnCompat } from "../anthropic/compat.ts";
import type { Traits } from "../anthropic/traits.ts";
import type { OpenCompat } from "../shared-compat.ts";

/** The quirks that Converse reads from `Target.compat`, besides those it shares with Messages. */
export interface BedrockOwnCompat {
  /** Whether the model takes cache points, which are otherwise set only if asked for. Default: by its name. */
  cache: boolean;
  /** The role of the system prompt: `user` for a model that takes none. Default: `system`. */
  systemRole: "system" | "user";
  /** Calls and results go in messages of their own, for a model that takes no text beside them. Default: false. */
  callsAlone: boolean;
}

/** The quirks of Messages that a model behind Converse may have too. */
export type BedrockSharedQuirk = "unsignedThinking" | "unbindsThinking" | "lacksLevels" | "resultsAlone";

/** The quirks of a model on Bedrock. */
export interface BedrockCompat
  extends Traits,
    BedrockOwnCompat,
    Pick<AnthropicOwnCompat, BedrockSharedQuirk>,
    OpenCompat {}
