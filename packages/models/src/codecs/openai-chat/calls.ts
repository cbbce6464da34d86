// The room of correlation: which call a fragment of a Chat Completions stream belongs to.
//
// OpenAI numbers calls. Others send no number, or 0 for all, or start at 1, repeat id and name in every fragment, or send
// the arguments before the name (F067 to F073). The rules, in order:
//   a number is a key, never a position;
//   another id under the same number is another call, or an earlier one with that id; a name after whole arguments is
//   another call, too, and so are the same id and name with arguments that start again;
//   without a number, a new id or a new name opens a call, and everything else belongs to the last one.

import type { Json, JsonObject } from "@rondo/core";
import { argsIn, argumentNames } from "../../answer/call-args.ts";
import type { Answer } from "../../answer.ts";
import { countIn, numberIn, objectIn, parseJson, textIn, writtenIn } from "../../json-values.ts";
import { functionIn } from "./chunk.ts";
import { GrowingArgs } from "./growing-args.ts";

interface Slot {
  /** Its place among the calls, in the order in which they were opened. */
  readonly at: number;
  readonly key: string;
  /** The number under which it was opened. */
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly args: GrowingArgs;
}

/** A fragment as read: what it says about its call, and which call that is. */
export interface Fragment {
  key: string;
  id: string;
  name: string;
  /** A piece of JSON text, or the whole arguments as a value. */
  args: Json | undefined;
  /** Members that have no meaning here, e.g. `extra_content` (F110). */
  extra: { [member: string]: Json } | undefined;
}

const known: ReadonlySet<string> = new Set([
  ..."index id type function custom name __proto__".split(" "),
  ...argumentNames,
]);
/** Members of a function that gateways give a meaning of their own, and want back there: LiteLLM's thought signatures (F110). */
const ownOfFunction = "provider_specific_fields";

export class CallTracker {
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  /** The last call opened for each id. */
  readonly #byId = new Map<string, Slot>();
  #last: Slot | undefined;
  readonly #offered: ReadonlySet<string>;

  /** @param offered the tools' names, which distinguish a piece of a name from a whole one */
  constructor(offered: ReadonlySet<string> = new Set()) {
    this.#offered = offered;
  }

  /** The key of the call that the last fragment belonged to. */
  get last(): string | undefined {
    return this.#last?.key;
  }

  get keys(): string[] {
    return this.#slots.map((slot) => slot.key);
  }

  get empty(): boolean {
    return this.#slots.length === 0;
  }

  /** @param position the fragment's place in its chunk's list */
  fragment(given: Json, position: number): Fragment | undefined {
    const call = objectIn(given);
    if (call === undefined) return undefined;
    const fn = functionIn(call);
    const id = textIn(call.id) ?? "";
    const said = textIn(fn?.name) ?? "";
    // A null that was turned into a string on the way.
    const name = said === "null" || said === "None" ? "" : said;
    const piece = (fn && argsIn(fn, "arguments")) ?? undefined;
    // A piece of digits may come as a number (Cloudflare).
    const told = writtenIn(piece) ?? piece;
    const index = numberIn(call.index) ?? countIn(call.index);
    // An empty fragment opens no call: some servers send one together with their text.
    const before = index === undefined ? this.#last : this.#byIndex.get(index);
    if (before === undefined && id === "" && name === "" && !told) return undefined;
    const slot =
      index === undefined
        ? this.#unnumbered(id, name, told, position)
        : this.#numbered(index, id, name, told);
    // A whole call may be sent again: it is still one call, and its arguments are not added twice (F085).
    const args = repeats(slot.args, told) ? undefined : told;
    if (slot.id === "" && id !== "") this.#identify(slot, id);
    if (name !== "") slot.name = this.#joined(slot, name);
    if (args !== undefined) slot.args.add(textOf(args));
    this.#last = slot;
    return { key: slot.key, id: slot.id, name: name === "" ? "" : slot.name, args, extra: extraOf(call) };
  }

  /** The name as known by now: a fragment may continue it, but usually repeats it whole. */
  #joined({ name: known, args }: Slot, name: string): string {
    if (known === "" || name.startsWith(known)) return name;
    const joined = known + name;
    // If the arguments are still an empty string, a name is usually complete.
    if (args.begun) return args.length === 0 && this.#offered.has(joined) ? joined : name;
    return this.#offered.has(joined) || !this.#offered.has(name) ? joined : name;
  }

  /** How further pieces of the same arguments are taken, if a fragment was just a numbered piece of them. */
  more(given: Json | undefined, answer: Answer): ((args: string) => void) | undefined {
    const call = objectIn(given);
    const fn = objectIn(call?.function);
    const slot = this.#byIndex.get(numberIn(call?.index) ?? Number.NaN);
    const isPiece =
      call !== undefined &&
      fn !== undefined &&
      Object.keys(call).every((member) => member === "index" || member === "function" || !call[member]) &&
      Object.keys(fn).every((member) => member === "arguments" || !fn[member]) &&
      typeof fn.arguments === "string";
    if (slot === undefined || slot !== this.#last || !isPiece) return undefined;
    const more = answer.moreArgs(slot.key);
    return (args) => {
      if (repeats(slot.args, args)) return;
      slot.args.add(args);
      more(args);
    };
  }

  #numbered(index: number, id: string, name: string, args: Json | undefined): Slot {
    const slot = this.#byIndex.get(index);
    if (id === "" && name === "" && this.#isOfLast(slot, args)) return this.#last as Slot;
    const earlier = this.#byId.get(id);
    const isBack = earlier?.index === index && !anew(earlier, name, args);
    if (!isBack && slot !== undefined && !this.#another(slot, id, name, args)) return slot;
    const now = isBack ? earlier : this.#open(index);
    this.#byIndex.set(index, now);
    return now;
  }

  /**
   * Arguments alone never open a call, and add nothing to a whole one: they belong to the last call if that still needs
   * them, whatever their number. Some servers number a call's first fragment and send 0 with all others.
   */
  #isOfLast(slot: Slot | undefined, args: Json | undefined): boolean {
    const last = this.#last;
    if (last === undefined || last === slot || last.name === "") return false;
    if (slot === undefined && last.args.length === 0) return true;
    const isMore = textOf(args ?? "").trim() !== "" && !last.args.whole;
    return isMore && (slot === undefined || (slot.args.whole && !repeats(slot.args, args)));
  }

  #another(slot: Slot, id: string, name: string, args: Json | undefined): boolean {
    if (id !== "" && slot.id !== "" && id !== slot.id) {
      // Some servers give every fragment an id of its own, without a name, and the arguments continue where they stopped.
      if (name !== "") return true;
      if (args === undefined || args === "") return slot.name === "";
      return slot.args.length > 0 ? slot.args.whole : slot.name === "";
    }
    if (id !== "" && id === slot.id) return anew(slot, name, args);
    if (name === "" || slot.name === "") return false;
    if (slot.args.length > 0) return name !== slot.name || slot.args.whole;
    // Both are tools' whole names: two calls without arguments.
    return name !== slot.name && this.#offered.has(name) && this.#offered.has(slot.name);
  }

  #unnumbered(id: string, name: string, args: Json | undefined, position: number): Slot {
    const last = this.#last;
    if (id !== "") {
      const same = this.#byId.get(id);
      // If the same id comes twice in one list, these are still two calls (F052).
      if (same !== undefined && !(position > 0 && name !== "" && same.args.whole) && !anew(same, name, args))
        return same;
      if (same !== undefined || last === undefined) return this.#open();
      const goesOn = last.id === "" ? last.name === "" || name === "" : !this.#another(last, id, name, args);
      return goesOn ? last : this.#open();
    }
    if (last === undefined) return this.#open();
    if (name === "") return last;
    if (last.name === "" || this.#continuesName(last, name, position)) return last;
    return position > 0 || name !== last.name || last.args.length === 0 || last.args.whole
      ? this.#open()
      : last;
  }

  /** Whether a name is the rest of the last call's: together they are a tool's, and alone it is none. */
  #continuesName({ name: known, args }: Slot, name: string, position: number): boolean {
    const isRest = !this.#offered.has(name) && this.#offered.has(known + name);
    return position === 0 && args.length === 0 && isRest;
  }

  #identify(slot: Slot, id: string): void {
    slot.id = id;
    const other = this.#byId.get(id);
    if (other === undefined || other.at < slot.at) this.#byId.set(id, slot);
  }

  #open(index?: number): Slot {
    const at = this.#slots.length;
    const slot: Slot = { at, key: `call ${at}`, index, id: "", name: "", args: new GrowingArgs() };
    this.#slots.push(slot);
    return slot;
  }
}

/** The members that have no meaning here. Usually there are none: arguments come in thousands of fragments. */
function extraOf(call: JsonObject): Fragment["extra"] {
  let extra: Fragment["extra"];
  for (const member of Object.keys(call))
    if (!known.has(member)) {
      extra ??= {};
      extra[member] = call[member] as Json;
    }
  const own = objectIn(call.function)?.[ownOfFunction];
  return own ? { [ownOfFunction]: own, ...extra } : extra;
}

/** Whether a fragment with the id of a whole call begins another call: parallel calls may share one id (F052). */
function anew({ args: known }: Slot, name: string, args: Json | undefined): boolean {
  if (name === "" || args === undefined || !known.whole || repeats(known, args)) return false;
  // Some servers send an empty object before the real arguments (F074).
  return (
    objectIn(typeof args === "string" ? parseJson(args) : args) !== undefined &&
    !/^\s*\{\s*\}\s*$/.test(known.text)
  );
}

/**
 * Whether these are the whole arguments once more, spelt otherwise or encoded twice (LiteLLM). Only a piece at least half as
 * long as all of them is compared: comparing each would be slow.
 */
function repeats(known: GrowingArgs, args: Json | undefined): boolean {
  if (args === undefined || args === "" || known.length === 0) return false;
  const text = textOf(args);
  if (text.length * 2 < known.length || !/^\s*["{]/.test(text) || !known.whole) return false;
  if (known.text === text) return true;
  const told = parseJson(text);
  const value = objectIn(typeof told === "string" ? parseJson(told) : told);
  return value !== undefined && JSON.stringify(value) === JSON.stringify(parseJson(known.text));
}

const textOf = (args: Json): string => (typeof args === "string" ? args : JSON.stringify(args));
