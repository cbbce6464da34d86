// The room of all the quirks of a server that speaks Responses.

import type { AnthropicOwnCompat } from "../anthropic/compat.ts";
import type { OpenCompat } from "../shared-compat.ts";
import type { OpenaiResponsesCompat } from "./settings.ts";

/** The quirks of a Responses server: the codec's own, and those that are not the codec's alone. */
export interface ResponsesCompat
  extends OpenaiResponsesCompat,
    OpenCompat,
    Pick<AnthropicOwnCompat, "lacksLevels"> {}
