// The room of the clause: one question or order, parsed into what the grammar decides by.

import { claimFilters } from "./filters.ts";
import type { Filter, Goal, Place } from "./goal.ts";
import { here } from "./goal.ts";
import { type Unit, units as unitWords } from "./lexicon.ts";
import { claimNeedles } from "./needles.ts";
import { claimPlaces } from "./places.ts";
import { Sheet } from "./sheet.ts";
import type { Token } from "./tokens.ts";

export interface Clause {
  sheet: Sheet;
  /** Roles in capitals, everything else as stems. */
  skeleton: string;
  /** The clause as written. */
  text: string;
  /** Places the clause names; empty when it names none. */
  places: readonly Place[];
  /** The first place named, or the one implied if none is. */
  place: Place;
  filters: readonly Filter[];
  units: readonly Unit[];
  /** The units right after "how many" or "count". */
  counted: readonly Unit[];
  /** Deep (true), direct (false), or not stated. */
  deep: boolean | undefined;
  /** "and …", "what about …": refers to what was said before. */
  leans: boolean;
}

export const countCue: RegExp =
  /\b(how many|count|number of|amount of|total of|total number|tally|quantity of|how much)\b|^(the )?total (?=line|file|word|folder|byte|character)|\b(file|folder|directory|line|word|character|byte|function|class) count\b/;

/**
 * Reads one clause.
 * @param said the goals of this message so far; a clause without a place takes the place of the one before it
 * @param follows whether there is an earlier task to refer to
 */
export function readClause(
  tokens: readonly Token[],
  task: string,
  said: readonly Goal[],
  follows: boolean,
): Clause {
  const trimmed = dropLead(tokens);
  const sheet = new Sheet(trimmed.tokens);
  claimNeedles(sheet);
  claimFilters(sheet);
  claimPlaces(sheet);
  const skeleton = sheet.skeleton;
  const first = trimmed.tokens[0];
  const last = trimmed.tokens.at(-1);
  const leans = trimmed.leans || /^(what|how) about\b|^(only|just|same)\b/.test(skeleton);
  const units = sheet.units;
  const counted = countedUnits(skeleton, units);
  const vague = countCue.test(skeleton) && counted.length === 0;
  const place = sheet.places[0] ?? impliedPlace(sheet, said, follows && (leans || vague));
  return {
    sheet,
    skeleton,
    text: first === undefined || last === undefined ? "" : task.slice(first.start, last.end),
    places: sheet.places,
    place,
    filters: sheet.filters,
    units,
    counted,
    deep: depthOf(skeleton),
    leans,
  };
}

function impliedPlace(sheet: Sheet, said: readonly Goal[], follows: boolean): Place {
  if (sheet.says === "here") return here;
  if (sheet.says === "there" || follows) return { path: ".", it: true };
  const before = said.at(-1);
  return before !== undefined && "place" in before ? before.place : here;
}

/** What joins a clause to the one before it. */
const joints: RegExp = /^(?:and|also|then|but|next|finally|additionally)(?= |$)/;

/** What a clause may begin with before it says what it wants: a match is dropped. */
const leads: readonly RegExp[] = [
  joints,
  /^(?:please|kindly|quickly|just|actually|instead|rather|now|so|well|ok|okay|great|thanks|,|:|-)(?= )/,
  /^(?:yes|no|nope|stop|wait|sorry|hey|hi|hello|hmm)(?= )/,
  /^(?:can|could|would|will) you(?= |$)/,
  /^(?:i|we) (?:want|need|like|would|wish)(?: (?:to|know|like|you|see|find(?= out(?: |$))|out|learn)(?= |$))*(?= |$)/,
  /^i'd like(?: to (?:know|see)(?= |$)| \S*|$)/,
  /^let me know(?= |$)/,
  /^(?:tell|show|give) me(?= (?:how|what|which|where|whether|if|who)(?: |$))/,
  /^(?:find|work|figure) out(?= |$)/,
  /^(?:do|does) you know(?= |$)/,
  /^(?:see|check|determine|say|report)(?= (?:how|what|which|where|whether|if)(?: |$))/,
];

/** What only a clause that has had a lead may go on with. */
const laterLead: RegExp = /^(?:whether|if)(?= |$)/;

/** Drops "please", "and then", "can you tell me" and the like from the front. */
function dropLead(tokens: readonly Token[]): { tokens: readonly Token[]; leans: boolean } {
  const words = tokens.map(({ kind, lower }) => (kind === "quoted" ? "" : lower));
  let at = 0;
  let leans = false;
  for (;;) {
    const rest = words.slice(at).join(" ");
    const lead = [...leads, ...(at > 0 ? [laterLead] : [])].find((pattern) => pattern.test(rest));
    if (lead === undefined) return { tokens: tokens.slice(at), leans };
    leans ||= lead === joints;
    at += lead.exec(rest)?.[0].split(" ").length ?? 0;
  }
}

const nounGroupEnd =
  /\b(are|is|do|doe|does|have|has|ha|in|under|inside|within|below|beneath|PATH|there|contain|hold|exist|live|that|which|mention|NEEDLE|from|across|can|with|you|appear|occur)\b/;

function countedUnits(skeleton: string, units: readonly Unit[]): Unit[] {
  const cue = countCue.exec(skeleton);
  if (cue === null) return [];
  const compound = /(file|folder|directory|line|word|character|byte|function|class) count/.exec(cue[0]);
  if (compound !== null)
    return units.filter((unit) => unit === (compound[1] === "directory" ? "folder" : compound[1]));
  const after = skeleton.slice(cue.index + cue[0].length);
  const end = nounGroupEnd.exec(after);
  const group = end === null ? after : after.slice(0, end.index);
  // "count the files": the group is all there is. "how many line doe the file x have": only `line`.
  const words = group.split(/[\s]+/);
  const found: Unit[] = [];
  for (const unit of units) if (words.some((word) => unitOf(word) === unit)) found.push(unit);
  // "lines of TypeScript code", "functions in …": what follows "of" only narrows.
  const of = group.indexOf(" of ");
  if (of >= 0 && found.length > 1) {
    const head = group.slice(0, of).split(/\s+/);
    const heads = found.filter((unit) => head.some((word) => unitOf(word) === unit));
    if (heads.length > 0) return heads;
  }
  return found;
}

const unitOf = (word: string): Unit | undefined => unitWords.get(word);

function depthOf(skeleton: string): boolean | undefined {
  if (
    /\b(directly|direct|top-level|toplevel|immediate|immediately|non-recursively|not recursively|without subfolder|at the top|shallow|first level)\b|\btop level\b|\bnot (counting|including) (the )?(subfolder|subdirectory|nested)|\bexcluding (subfolder|subdirectory)/.test(
      skeleton,
    )
  )
    return false;
  if (
    /\b(recursively|recursive|overall|altogether|deep|everywhere|anywhere|nested|tree)\b|\b(including|counting|with|and) (all |any |its |their |the )*(subfolder|subdirectory)/.test(
      skeleton,
    )
  )
    return true;
  return undefined;
}
