// The room of the last resort: what to do if a request does not fit and nothing else has helped.
//
// The longest texts lose their middle, all down to the same length, so that each loses as little as possible.
// Results are cut first; what a person wrote only if that is not enough. Calls keep their results (P1).

import type { Message } from "../message.ts";
import type { MessageList } from "../model.ts";
import { headOf, tailOf } from "../text/size.ts";
import type { Estimator } from "./estimate.ts";
import { grouped, type Replacement, type StageNote, sumOf } from "./stage.ts";

/** Texts are not cut shorter than this, in characters. */
const shortest = 500;

/** Characters of the note in a cut text: a text that is only slightly too long would not get shorter by it. */
const noteRoom = 80;

/** What was cut, and the size after it; undefined if nothing could be cut. */
export interface Cut {
  edits: Replacement[];
  note: StageNote;
}

/**
 * Cuts the longest texts of a history until it has at most the given size, as far as possible.
 * @param goal estimated tokens of all messages together
 */
export function cutLongest(messages: MessageList, goal: number, estimator: Estimator): Cut | undefined {
  const before = sumOf(messages, estimator.message);
  if (before <= goal) return undefined;
  let edits: Replacement[] = [];
  let after = before;
  for (const roles of [["tool"], ["tool", "user"]] as const) {
    edits = cutTo(messages, level(messages, before - goal, roles, estimator), roles);
    after = edits.reduce(
      (sum, { at, message }) =>
        sum - estimator.message(messages.at(at) as Message) + estimator.message(message),
      before,
    );
    if (after <= goal) break;
  }
  if (edits.length === 0 || after >= before) return undefined;
  const texts = edits.length === 1 ? "the longest text" : `the ${edits.length} longest texts`;
  const note = `${texts} cut: ${grouped(before)} tokens became ${grouped(after)}, at most ${grouped(goal)} fit`;
  return { edits, note: { stage: "guard", before, after, note } };
}

type Roles = readonly Message["role"][];

/** The length, in characters, to which every longer text must be cut to save so many tokens. */
function level(messages: MessageList, tokens: number, roles: Roles, estimator: Estimator): number {
  const texts: { chars: number; tokens: number }[] = [];
  for (const message of messages)
    if (roles.includes(message.role))
      for (const part of message.content)
        if (part.type === "text" && part.text.length > shortest)
          texts.push({ chars: part.text.length, tokens: estimator.text(part.text) });
  texts.sort((one, other) => other.chars - one.chars);
  let least = shortest;
  let most = texts[0]?.chars ?? shortest;
  // The estimate of a cut text is assumed to be proportional to its length; 20 halvings are exact for a million characters.
  const saved = (length: number): number =>
    texts.reduce((sum, one) => sum + Math.max(0, one.tokens * (1 - length / one.chars)), 0);
  for (let at = 0; at < 20 && most - least > 1; at += 1) {
    const middle = Math.floor((least + most) / 2);
    if (saved(middle) >= tokens) least = middle;
    else most = middle;
  }
  // A cut adds a note to the text, and the estimate may be wrong: so a tenth less is kept.
  return Math.max(shortest, Math.floor(least * 0.9) - noteRoom);
}

function cutTo(messages: MessageList, length: number, roles: Roles): Replacement[] {
  const edits: Replacement[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages.at(at) as Message;
    if (!roles.includes(message.role)) continue;
    let cut = false;
    const content = message.content.map((part) => {
      if (part.type !== "text" || part.text.length <= length + noteRoom) return part;
      cut = true;
      return { ...part, text: withoutMiddle(part.text, length) };
    });
    if (cut) edits.push({ at, message: { ...message, content } as Message });
  }
  return edits;
}

/** Keeps two thirds of the length from the beginning and one third from the end, and says how much is missing between. */
function withoutMiddle(text: string, length: number): string {
  const tail = tailOf(text, Math.floor(length / 3));
  const head = headOf(text, length - tail.length);
  return `${head}\n\n[${grouped(text.length - head.length - tail.length)} characters omitted here]\n\n${tail}`;
}
