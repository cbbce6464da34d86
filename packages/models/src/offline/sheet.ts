// The room of the sheet: one clause while it is parsed. Each reader claims the tokens that it understood, so that no word
// is read twice, and the rest can be matched by the grammar as a skeleton of roles and stems.

import type { Filter, Place, Range } from "./goal.ts";
import { numberOf, type Unit, units } from "./lexicon.ts";
import type { Token } from "./tokens.ts";

/** What a claimed token turned out to be. */
export type Role = "PATH" | "FILTER" | "NEEDLE" | "NAME" | "RANGE" | "TOPIC" | "PLACEWORD";

export class Sheet {
  readonly tokens: readonly Token[];
  readonly #roles: (Role | undefined)[];
  places: Place[] = [];
  readonly #at = new Map<Place, number>();
  filters: Filter[] = [];
  /** What to look for inside files. */
  needle: { text: string; whole: boolean; quoted: boolean } | undefined;
  /** The name of a file or folder, if the clause gives one. */
  name: { filter: Filter; text: string; unit: "file" | "folder" } | undefined;
  /** What the clause wants to know about a file: "what does x say about engines". */
  topic: string | undefined;
  range: Range | undefined;
  /** A modifier that no tool here can judge, with its noun. */
  unknown: string | undefined;
  /** The clause says "here", "this folder", "there". */
  says: "here" | "there" | undefined;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
    this.#roles = tokens.map(() => undefined);
  }

  stem(at: number): string {
    const token = this.tokens[at];
    return token === undefined || token.kind !== "word" ? "" : token.stem;
  }

  lower(at: number): string {
    const token = this.tokens[at];
    return token === undefined || token.kind === "sign" ? "" : token.lower;
  }

  role(at: number): Role | undefined {
    return this.#roles[at];
  }

  taken(at: number): boolean {
    return this.#roles[at] !== undefined;
  }

  claim(at: number, role: Role): void {
    this.#roles[at] = role;
  }

  /** Adds a place; places are kept in the order of the text, whoever claimed them first. */
  addPlace(place: Place, at: number): void {
    if (this.places.some((one) => one.path === place.path && one.it === place.it)) return;
    this.#at.set(place, at);
    this.places = [...this.places, place].sort((a, b) => (this.#at.get(a) ?? 0) - (this.#at.get(b) ?? 0));
  }

  /** The words between the first and the last token of a role. */
  between(role: Role): string {
    const first = this.#roles.indexOf(role);
    const last = this.#roles.lastIndexOf(role);
    return this.tokens
      .slice(first, last)
      .map((token) => token.lower)
      .join(" ");
  }

  /** Roles in capitals, everything else as stems, e.g. `how many FILTER file are in PATH`. */
  get skeleton(): string {
    const words: string[] = [];
    this.tokens.forEach((token, at) => {
      const role = this.#roles[at];
      const word =
        role ??
        (token.kind === "quoted" ? "QUOTE" : numberOf(token.lower) !== undefined ? "NUM" : token.stem);
      if (role === undefined || words.at(-1) !== role) words.push(word);
    });
    return words.join(" ");
  }

  /** Units named by unclaimed words, in order, each once. */
  get units(): Unit[] {
    const found: Unit[] = [];
    this.tokens.forEach((token, at) => {
      const unit = units.get(token.stem);
      if (unit !== undefined && token.kind === "word" && !this.taken(at) && !found.includes(unit))
        found.push(unit);
    });
    return found;
  }
}
