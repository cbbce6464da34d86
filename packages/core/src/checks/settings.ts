// The room of the check of settings: what may be asked of a model, for a whole run or for one step.

import { type Check, count, data, flag, listOf, membersOf, needed, real, recordOf, text } from "../checks.ts";
import { isObject } from "../json/object.ts";
import type { Settings } from "../model.ts";
import { settingWords } from "./other-words.ts";

const levels: readonly unknown[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const levelOrBudget = needed(
  "off, minimal, low, medium, high, xhigh, max or { budgetTokens }",
  (value) => levels.includes(value) || isObject(value),
);
const budget = membersOf<{ budgetTokens: number }>({ budgetTokens: real }, ["budgetTokens"]);

/** An unknown word would be sent unchanged by one protocol, and have no meaning in another. */
const reasoning: Check = (value) => {
  const fault = levelOrBudget(value);
  if (typeof value !== "string") return fault ?? budget(value);
  const own = "a provider's own word goes into settings.providerOptions";
  return fault && { ...fault, says: `${fault.says}: ${own}` };
};

/** An empty text would end every answer before it began; servers refuse it. */
const stopText: Check = needed(
  "a text that is not empty",
  (value) => typeof value === "string" && value !== "",
);

export const settings: Check = membersOf<Settings>(
  {
    temperature: real,
    topP: real,
    topK: real,
    maxOutputTokens: count,
    stop: listOf(stopText),
    seed: real,
    frequencyPenalty: real,
    presencePenalty: real,
    reasoning,
    parallelToolCalls: flag,
    headers: recordOf(text),
    providerOptions: data,
  },
  [],
  settingWords,
);
