// The room of rondo-wire's command line: the words that were given, and what is wrong with them, in a line.

import { parseArgs } from "node:util";
import { hintAt } from "@rondo/core/checks";

interface Flags {
  print: boolean;
  lenient: boolean;
  "repeat-last": boolean;
  help: boolean;
}

interface Texts {
  script?: string;
  cassette?: string;
  port?: string;
  chunks?: string;
  server?: string;
  key?: string;
  requests?: string;
}

type Types = { readonly [name in keyof Required<Texts>]: { type: "string" } } & {
  readonly [name in keyof Flags]: { type: "boolean"; short?: string };
};

const types: Types = {
  script: { type: "string" },
  cassette: { type: "string" },
  print: { type: "boolean" },
  port: { type: "string" },
  chunks: { type: "string" },
  lenient: { type: "boolean" },
  "repeat-last": { type: "boolean" },
  server: { type: "string" },
  key: { type: "string" },
  requests: { type: "string" },
  help: { type: "boolean", short: "h" },
};

const known = [...Object.keys(types).map((name) => `--${name}`), "-h"];

/** The options of the command; or what cannot be used of them, in one line. */
export function readOptions(args: readonly string[]): Flags & Texts {
  const flags: Flags = { print: false, lenient: false, "repeat-last": false, help: false };
  const texts: Texts = {};
  const { tokens } = parseArgs({
    args: [...args],
    options: types,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional")
      throw usage(`there is nothing to do with ${JSON.stringify(token.value)}: every file has its option.`);
    const { name, rawName, value, inlineValue = false } = token;
    const type = Object.hasOwn(types, name) ? types[name as keyof Types].type : undefined;
    if (type === undefined) throw usage(`there is no option ${rawName}.${hintAt(rawName, known)}`);
    if (type === "boolean") {
      if (value !== undefined) throw usage(`${rawName} takes no value; write ${rawName} alone.`);
      flags[name as keyof Flags] = true;
      continue;
    }
    if (value === undefined) throw usage(`${rawName} needs a value.`);
    if (!inlineValue && value.startsWith("-") && value !== "-")
      throw usage(
        `${rawName} needs a value, and ${value} looks like an option; if it is meant, write ${rawName}=${value}.`,
      );
    texts[name as keyof Texts] = value;
  }
  return { ...flags, ...texts };
}

const usage = (complaint: string): Error => new Error(`${complaint} See rondo-wire --help`);
