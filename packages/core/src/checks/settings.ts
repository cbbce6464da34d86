// The room of the check of settings: what may be asked of a model, for a whole run or for one step.

import { type Check, count, data, either, flag, listOf, membersOf, real, recordOf, text } from "../checks.ts";
import type { Settings } from "../model.ts";
import { settingWords } from "./other-words.ts";

export const settings: Check = membersOf<Settings>(
  {
    temperature: real,
    topP: real,
    topK: real,
    maxOutputTokens: count,
    stop: listOf(text),
    seed: real,
    frequencyPenalty: real,
    presencePenalty: real,
    // Servers go on finding words for effort; what one does not know is its model's to say.
    reasoning: either(text, membersOf<{ budgetTokens: number }>({ budgetTokens: real }, ["budgetTokens"])),
    parallelToolCalls: flag,
    headers: recordOf(text),
    providerOptions: data,
  },
  [],
  settingWords,
);
