// The room of the mutants: the sources with every mutant behind a switch, and a description of each.
//
// The mutants are those of Stryker's instrumenter. Its switches are replaced by those of `switches.ts`.

import { existsSync, globSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { run } from "../run-command.ts";

export interface Mutant {
  readonly id: string;
  /** Relative to the folder of the sources, with slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly kind: string;
  /** The line it begins in, trimmed. */
  readonly code: string;
  readonly before: string;
  readonly after: string;
  /** The reason, if it is not tried. */
  readonly leftOut?: string;
}

export interface Instrumented {
  mutants: Mutant[];
  /** Path of each source, with its instrumented text. */
  sources: Map<string, string>;
}

interface Place {
  line: number;
  column: number;
}

/** The part we use of @stryker-mutator/instrumenter, which is installed only when needed. */
interface Stryker {
  Instrumenter: new (
    logger: object,
  ) => {
    instrument(
      files: readonly { name: string; mutate: boolean; content: string }[],
      options: object,
    ): Promise<{
      files: { name: string; content: string }[];
      mutants: {
        id: string;
        fileName: string;
        mutatorName: string;
        replacement: string;
        location: { start: Place; end: Place };
      }[];
    }>;
  };
}

const folder = import.meta.dirname;

/**
 * Makes sure that the instrumenter is installed.
 * @throws Error when it cannot be installed
 */
export async function installed(): Promise<void> {
  await stryker();
}

async function stryker(): Promise<Stryker> {
  const path = join(folder, "node_modules/@stryker-mutator/instrumenter/dist/src/index.js");
  if (!existsSync(path)) {
    const { code, text } = await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder });
    if (code !== 0) throw new Error(`the instrumenter could not be installed: ${text}`);
  }
  return (await import(path)) as Stryker;
}

/** The sources in the given folders (rooms) or files below a base folder, with slashes. */
export function sourcesIn(base: string, rooms: readonly string[]): string[] {
  return rooms
    .flatMap((room) => globSync(room.endsWith(".ts") ? room : `${room}/**/*.ts`, { cwd: base }))
    .map((path) => path.split(sep).join("/"))
    .sort();
}

/** @param base the folder of the sources, absolute; `files` are relative to it */
export async function instrument(base: string, files: readonly string[]): Promise<Instrumented> {
  const { Instrumenter } = await stryker();
  const none = (): void => {};
  const logger = {
    debug: none,
    info: none,
    warn: console.warn,
    error: console.error,
    isDebugEnabled: () => false,
  };
  const texts = new Map(files.map((file) => [file, readFileSync(join(base, file), "utf8")]));
  const made = await new Instrumenter(logger).instrument(
    files.map((file) => ({ name: join(base, file), mutate: true, content: texts.get(file) as string })),
    { plugins: null, excludedMutations: [], ignorers: [], noHeader: true },
  );
  const mutants = made.mutants.map(({ id, fileName, mutatorName: kind, replacement, location }): Mutant => {
    const file = relative(base, fileName).split(sep).join("/");
    const lines = (texts.get(file) as string).split("\n");
    const before = between(lines, location.start, location.end);
    const why = leftOut(kind, before);
    return {
      id,
      file,
      line: location.start.line + 1,
      kind,
      code: (lines[location.start.line] as string).trim(),
      before: short(before),
      after: short(replacement),
      ...(why === undefined ? {} : { leftOut: why }),
    };
  });
  const sources = new Map(made.files.map(({ name, content }) => [name, withOurSwitches(content)]));
  return { mutants, sources };
}

/** Messages for people are not the loop's behaviour, and are not mutated. They contain spaces, unlike discriminants, names and codes. */
function leftOut(kind: string, before: string): string | undefined {
  return kind === "StringLiteral" && /\s/.test(before) ? "a text for people or models" : undefined;
}

function between(lines: readonly string[], start: Place, end: Place): string {
  if (start.line === end.line) return (lines[start.line] as string).slice(start.column, end.column);
  return [
    (lines[start.line] as string).slice(start.column),
    ...lines.slice(start.line + 1, end.line),
    (lines[end.line] as string).slice(0, end.column),
  ].join("\n");
}

/** On one line, with the middle omitted if it is long. */
function short(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= 100 ? flat : `${flat.slice(0, 60)} … ${flat.slice(-37)}`;
}

/** Replaces calls of Stryker's switches by calls of ours. */
function withOurSwitches(text: string): string {
  return text
    .replaceAll(/\bstryMutAct_9fa48\(/g, "globalThis.rondoMutantIsOn(")
    .replaceAll(/\bstryCov_9fa48\(/g, "globalThis.rondoMutantsMet(");
}
