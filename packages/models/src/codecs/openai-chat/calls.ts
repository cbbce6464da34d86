// The room of correlation: which call a fragment of a Chat Completions stream belongs to.
//
// OpenAI numbers calls; others send no number, or 0 for all, or start at 1, repeat id and name in every fragment, or send
// the arguments before the name (F067 to F073). The rules, in order:
//   a number is a key, never a position;
//   another id under the same number is another call, or that one of before whose id it is, and so is a name after the
//   arguments were whole, or the same id and name with arguments that begin anew;
//   without a number a new id or a new name opens a call, and all else belongs to the last one.

import type { Json, JsonObject } from "@rondo/core";
import type { Answer } from "../../answer.ts";
import { countIn, numberIn, objectIn, parseJson, textIn } from "../../json-values.ts";
import { functionIn } from "./chunk.ts";
import { GrowingArgs } from "./growing-args.ts";

interface Slot {
  /** Its place among the calls, in the order in which they began. */
  readonly at: number;
  readonly key: string;
  /** The number it was opened under. */
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly args: GrowingArgs;
}

/** A fragment as read: what it says of its call, and which call that is. */
export interface Fragment {
  key: string;
  id: string;
  name: string;
  /** A piece of text, or the whole arguments as a value. */
  args: Json | undefined;
  /** Members that mean nothing to us, e.g. `extra_content` (F110). */
  extra: { [member: string]: Json } | undefined;
}

const known: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom", "__proto__"]);

export class CallTracker {
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  /** Of the calls of one id the last that was opened. */
  readonly #byId = new Map<string, Slot>();
  #last: Slot | undefined;
  readonly #offered: ReadonlySet<string>;

  /** `offered`: names of tools, which tell a piece of a name from a whole one. */
  constructor(offered: ReadonlySet<string> = new Set()) {
    this.#offered = offered;
  }

  /** The key of the call that was spoken of last. */
  get last(): string | undefined {
    return this.#last?.key;
  }

  get keys(): string[] {
    return this.#slots.map((slot) => slot.key);
  }

  get empty(): boolean {
    return this.#slots.length === 0;
  }

  /** `position`: the fragment's place in its chunk's list. */
  fragment(given: Json, position: number): Fragment | undefined {
    const call = objectIn(given);
    if (call === undefined) return undefined;
    const fn = functionIn(call);
    const id = textIn(call.id) ?? "";
    const said = textIn(fn?.name) ?? "";
    // The word for nothing, made a text on the way.
    const name = said === "null" || said === "None" ? "" : said;
    // By another protocol's word.
    const told = fn?.arguments ?? fn?.parameters ?? fn?.input ?? undefined;
    const index = numberIn(call.index) ?? countIn(call.index);
    // What says nothing opens no call: some send an empty entry beside their text.
    const before = index === undefined ? this.#last : this.#byIndex.get(index);
    if (before === undefined && id === "" && name === "" && !told) return undefined;
    const slot =
      index === undefined
        ? this.#unnumbered(id, name, told, position)
        : this.#numbered(index, id, name, told);
    // A whole call that is told once more is told, and not made, twice; so are its arguments (F085).
    const args = repeats(slot.args, told) ? undefined : told;
    if (slot.id === "" && id !== "") this.#identify(slot, id);
    if (name !== "") slot.name = this.#joined(slot, name);
    if (args !== undefined) slot.args.add(textOf(args));
    this.#last = slot;
    return { key: slot.key, id: slot.id, name: name === "" ? "" : slot.name, args, extra: extraOf(call) };
  }

  /** A name as it is known by now: it may come in pieces, and mostly comes again whole. */
  #joined({ name: known, args }: Slot, name: string): string {
    if (known === "" || name.startsWith(known)) return name;
    const joined = known + name;
    // Beside an empty text of arguments a name is mostly whole.
    if (args.begun) return args.length === 0 && this.#offered.has(joined) ? joined : name;
    return this.#offered.has(joined) || !this.#offered.has(name) ? joined : name;
  }

  /** How more of the same arguments are taken, when a fragment was nothing but a numbered piece of them. */
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
   * Arguments alone open no call, and add nothing to one that is whole: they are of the one that waits for them, whatever
   * its number was. Some servers give the call's first fragment its number and all others 0.
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
      // Some servers give every fragment an id of its own: no name, and arguments that go on where they broke off.
      if (name !== "" || args === undefined || args === "") return true;
      return slot.args.length > 0 ? slot.args.whole : slot.name === "";
    }
    if (id !== "" && id === slot.id) return anew(slot, name, args);
    if (name === "" || slot.name === "") return false;
    if (slot.args.length > 0) return name !== slot.name || slot.args.whole;
    // Neither is a piece of a name: two calls without arguments.
    return name !== slot.name && this.#offered.has(name) && this.#offered.has(slot.name);
  }

  #unnumbered(id: string, name: string, args: Json | undefined, position: number): Slot {
    const last = this.#last;
    if (id !== "") {
      const same = this.#byId.get(id);
      // One id for two calls of one list: two calls all the same (F052).
      if (same !== undefined && !(position > 0 && name !== "" && same.args.whole) && !anew(same, name, args))
        return same;
      if (same !== undefined || last === undefined) return this.#open();
      const goesOn = last.id === "" ? last.name === "" || name === "" : !this.#another(last, id, name, args);
      return goesOn ? last : this.#open();
    }
    if (last === undefined) return this.#open();
    if (name === "") return last;
    if (last.name === "") return last;
    return position > 0 || name !== last.name || last.args.length === 0 || last.args.whole
      ? this.#open()
      : last;
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

/** The members that mean nothing to us. Mostly there are none: arguments come in thousands of fragments. */
function extraOf(call: JsonObject): Fragment["extra"] {
  let extra: Fragment["extra"];
  for (const member of Object.keys(call))
    if (!known.has(member)) {
      extra ??= {};
      extra[member] = call[member] as Json;
    }
  return extra;
}

/** A fragment with the id of a whole call that is no more of it: parallel calls may share their one id (F052). */
function anew({ args: known }: Slot, name: string, args: Json | undefined): boolean {
  if (name === "" || args === undefined || !known.whole || repeats(known, args)) return false;
  // Some send an empty object before the arguments proper (F074).
  return (
    objectIn(typeof args === "string" ? parseJson(args) : args) !== undefined &&
    !/^\s*\{\s*\}\s*$/.test(known.text)
  );
}

/** The whole arguments over again. Only what is as long as all of them can be that: else each piece would be compared. */
function repeats(known: GrowingArgs, args: Json | undefined): boolean {
  if (args === undefined || args === "" || known.length === 0) return false;
  const text = textOf(args);
  return text.length === known.length && known.whole && known.text === text;
}

const textOf = (args: Json): string => (typeof args === "string" ? args : JSON.stringify(args));
