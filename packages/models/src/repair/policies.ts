// The room of history repair by provider: what each one's rules, read strictly, require of a history, as a table.
//
// Rondo's codecs repair what their protocol requires when they encode, so a default run needs none of this. The table is
// for histories that are handed to other programs, and for presets that store what such programs store.

import type { RepairPolicy } from "@rondo/core";
import { type IdFormName, idForm } from "./ids.ts";

export interface ProviderHistory {
  /** The required form of call ids. Absent: any. */
  ids?: IdFormName;
  /** The first turn must be the user's. */
  userFirst: boolean;
  /** A call without a result gets a synthetic one; otherwise the call is left out, since no call may lack its result. */
  synthetic: boolean;
  /** Reasoning in the history is refused, so it is left out. */
  dropReasoning: boolean;
}

const plain: ProviderHistory = { userFirst: false, synthetic: false, dropReasoning: false };

const table: { readonly [family: string]: ProviderHistory } = {
  google: { ...plain, ids: "strict", userFirst: true, synthetic: true },
  anthropic: { ...plain, ids: "strict", synthetic: true },
  mistral: { ...plain, ids: "strict9" },
  minimax: { ...plain, ids: "strict" },
  openai: plain,
  copilot: plain,
  copilotClaude: { ...plain, dropReasoning: true },
};

const mistralModels = /mistral|mixtral|codestral|pixtral|devstral|ministral|mistralai/i;

/** What a provider's model requires of a history. A provider that is not in the table is treated like OpenAI. */
export function providerHistory(provider: string, model = "", api = ""): ProviderHistory {
  const house = provider.toLowerCase();
  const family =
    house.includes("mistral") || mistralModels.test(model)
      ? "mistral"
      : house.includes("copilot")
        ? /claude/i.test(model)
          ? "copilotClaude"
          : "copilot"
        : house.includes("minimax")
          ? "minimax"
          : /google|gemini|vertex/.test(house) || api.startsWith("google")
            ? "google"
            : /anthropic|bedrock/.test(house) || api.startsWith("anthropic")
              ? "anthropic"
              : "openai";
  return table[family] ?? plain;
}

/** The same as a policy for `repairHistory`. */
export function repairPolicy(provider: string, model = "", api = ""): RepairPolicy {
  const { ids, userFirst, synthetic, dropReasoning } = providerHistory(provider, model, api);
  return {
    unanswered: synthetic ? "answer" : "drop",
    failed: "none",
    malformed: "drop",
    userFirst,
    dropReasoning,
    ...(ids === undefined ? {} : { id: idForm(ids) }),
  };
}
