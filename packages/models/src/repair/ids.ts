// The room of call ids in the forms providers require: one deterministic function per form.
//
// The codecs' own forms keep ids distinct enough by themselves. The two `strict` forms of gateways are so short that two
// ids may become the same: their functions look at the ids already taken.

import { anthropicId, bedrockId } from "../codecs/anthropic/names.ts";
import { chatIds, mistralIds, responsesIds, wireId } from "../codecs/openai/names.ts";
import { digest } from "../json-values.ts";

/**
 * `strict`: letters and digits, at most 40. `strict9`: exactly nine of them, for Mistral. The others are what the codecs
 * send: `chat` at most 40 characters, `mistral9` nine, `responses`, `anthropic` and `bedrock` at most 64 of an alphabet of
 * their own.
 */
export type IdFormName = "strict" | "strict9" | "chat" | "mistral9" | "responses" | "anthropic" | "bedrock";

/** Turns an id into the form, avoiding the ids already taken. */
export type IdForm = (id: string, taken?: ReadonlySet<string>) => string;

const none: ReadonlySet<string> = new Set();

const forms: { readonly [name in IdFormName]: (id: string, taken: ReadonlySet<string>) => string } = {
  strict: (id, taken) => {
    const clean = lettersOf(id).slice(0, 40);
    const base = id === "" ? "defaulttoolid" : clean === "" ? "sanitizedtoolid" : clean;
    return free(base, taken, (n) => {
      const mark = digest(`${id} ${n}`, 8);
      return base.slice(0, 40 - mark.length) + mark;
    });
  },
  strict9: (id, taken) => {
    const clean = lettersOf(id);
    const base = id === "" ? "defaultid" : clean.length >= 9 ? clean.slice(0, 9) : digest(id, 9);
    return free(base, taken, (n) => digest(`${id} ${n}`, 9));
  },
  chat: (id, taken) => numbered(wireId(id, chatIds), taken, (seed) => wireId(seed, chatIds)),
  mistral9: (id, taken) => numbered(wireId(id, mistralIds), taken, mistralIds.make),
  responses: (id, taken) => numbered(wireId(id, responsesIds), taken, (seed) => wireId(seed, responsesIds)),
  anthropic: (id, taken) => numbered(anthropicId(id), taken, anthropicId),
  bedrock: (id, taken) => numbered(bedrockId(id), taken, bedrockId),
};

/** The function for a form. Usable as `id` of a `RepairPolicy`. */
export function idForm(name: IdFormName): IdForm {
  const form = forms[name];
  return (id, taken = none) => form(id, taken);
}

const lettersOf = (id: string): string => id.replace(/[^a-zA-Z0-9]/g, "");

function free(base: string, taken: ReadonlySet<string>, next: (n: number) => string): string {
  let id = base;
  for (let n = 1; taken.has(id); n++) id = next(n);
  return id;
}

function numbered(base: string, taken: ReadonlySet<string>, shaped: (seed: string) => string): string {
  return free(base, taken, (n) => shaped(`${base}_${n + 1}`));
}
