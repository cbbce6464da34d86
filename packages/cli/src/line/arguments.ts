// The room of arguments: parses and checks the words of the command line.
//
// `parseArgs` splits the words; their values are checked here, so that every error names the word and says what
// is accepted.

import { parseArgs } from "node:util";
import { hintAt } from "@rondo/core/checks";
import { UsageError } from "../console/failure.ts";
import { rondo } from "./command-name.ts";

export interface OptionSpec {
  type: "string" | "boolean";
  short?: string;
  /** May be given more than once. */
  multiple?: boolean;
  /** The name of its value in the help. */
  value?: string;
  does: string;
}

export type OptionSpecs = { readonly [name: string]: OptionSpec };

/** The options given, by name, and the other words. */
export class Arguments {
  readonly words: readonly string[];
  readonly #values: ReadonlyMap<string, readonly (string | true)[]>;

  constructor(words: readonly string[], values: ReadonlyMap<string, readonly (string | true)[]>) {
    this.words = words;
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)?.at(-1);
    return typeof value === "string" ? value : undefined;
  }

  texts(name: string): string[] {
    return (this.#values.get(name) ?? []).filter((value) => typeof value === "string");
  }

  /** @throws UsageError when it is not a whole number above 0 */
  wholeNumber(name: string): number | undefined {
    return this.#number(name, /^\d+$/, "a whole number of at least 1");
  }

  /** @throws UsageError when it is not a number above 0 */
  number(name: string): number | undefined {
    return this.#number(name, /^\d*\.?\d+$/, "a number above 0");
  }

  /** Milliseconds. @throws UsageError when it is not a duration above 0 */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = durationOf(text);
    if (ms === undefined)
      throw new UsageError(
        `--${name} takes a time above 0, e.g. 90, 90s, 5m or 500ms, not ${JSON.stringify(text)}`,
      );
    return ms;
  }

  /** A duration after `now`, or a date, in milliseconds since 1970. @throws UsageError when it is neither, or past */
  time(name: string, now: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const at = dateOf(text.trim()) ?? now + (durationOf(text) ?? Number.NaN);
    if (!(at > now))
      throw new UsageError(
        `--${name} takes a time to come, e.g. 90s, 5m, 1h or 2026-12-24T18:00, not ${JSON.stringify(text)}`,
      );
    return at;
  }

  #number(name: string, pattern: RegExp, what: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!pattern.test(text.trim()) || !(value > 0) || value > Number.MAX_SAFE_INTEGER)
      throw new UsageError(`--${name} takes ${what}, not ${JSON.stringify(text)}`);
    return value;
  }
}

/** Milliseconds since 1970, NaN for a day that does not exist; undefined when it is not a date. */
function dateOf(text: string): number | undefined {
  // Only ISO dates, recognized by the year: whatever else Date.parse accepts is likely a typo.
  if (!/^\d{4}-\d\d/.test(text)) return undefined;
  // Date.parse takes a date alone as UTC, but a date with a time as local; both are meant as local.
  return Date.parse(/^[\d-]+$/.test(text) ? `${text}T00:00` : text);
}

/** Milliseconds, at least 1; undefined when it is not a duration. */
function durationOf(text: string): number | undefined {
  const [, amount, unit = "s"] = /^(\d*\.?\d+)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit as "ms" | "s" | "m" | "h"];
  const ms = Math.round(Number(amount) * factor);
  return ms > 0 && ms <= Number.MAX_SAFE_INTEGER ? ms : undefined;
}

/**
 * Parses the words that follow a command's name.
 * @throws UsageError naming the word that cannot be used
 */
export function readArguments(given: readonly string[], specs: OptionSpecs, command: string): Arguments {
  const { tokens } = parseArgs({
    args: [...given],
    options: Object.fromEntries(
      Object.entries(specs).map(([name, { type, short }]) => [
        name,
        { type, ...(short === undefined ? {} : { short }) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const values = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    if (spec === undefined) throw unknownOption(rawName, specs, command);
    checkValue(spec, rawName, value, token.inlineValue === true);
    const before = values.get(name) ?? [];
    if (before.length > 0 && spec.type === "string" && spec.multiple !== true)
      throw new UsageError(`${rawName} is given twice; give it once`);
    values.set(name, [...before, value ?? true]);
  }
  return new Arguments(words, values);
}

function checkValue(spec: OptionSpec, rawName: string, value: string | undefined, inline: boolean): void {
  if (spec.type === "boolean") {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value; write ${rawName} alone`);
    return;
  }
  const wanted = spec.value ?? "VALUE";
  if (value === undefined) throw new UsageError(`${rawName} needs a value: ${rawName} ${wanted}`);
  if (!inline && value.startsWith("-") && value !== "-")
    throw new UsageError(
      `${rawName} needs a value, and ${value} looks like an option; if it is meant, write ${rawName}=${value}`,
    );
}

function unknownOption(rawName: string, specs: OptionSpecs, command: string): UsageError {
  const known = Object.entries(specs).flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
  // A single letter is not a typo of another one.
  const hint = rawName.startsWith("--") ? hintAt(rawName, known) : "";
  return new UsageError(
    `there is no option ${rawName} of rondo ${command}.${hint} See ${rondo} ${command} --help; ` +
      `a word that begins with a dash goes after --`,
  );
}
