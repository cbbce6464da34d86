// The room of the foreign text targets: summaries by models, and texts to redact.

import { type Json, parseSummary, redacted, textRedaction } from "@rondo/core";
import { readEarlier, summaryBlocks, tagged } from "../../packages/core/src/context/compact/parse.ts";
import { compactionSettings } from "../../packages/core/src/context/compact/settings.ts";
import type { Fact } from "../../packages/core/src/loop/records.ts";
import { redaction } from "../../packages/core/src/redact.ts";
import type { Chance } from "../chance.ts";
import { anyJson, anyText, isObject, mutateJson, mutateText } from "./mutate.ts";
import { demand, type FuzzTarget, outcomeOf, same } from "./target.ts";

const sections = ["summary", "retain", "decisions", "done", "left", "next", "ledger", "refs"];
const tags = [
  ...sections.flatMap((name) => [`<${name}>`, `</${name}>`, `<${name} a="b">`, `<${name.toUpperCase()}>`]),
  "<summary",
  "- one\n",
  "* two\n",
  "  more\n",
  "1. x\n",
  "```\n",
  "none\n",
  "(x)",
  "\n",
  "<think>",
  "</think>",
  "İ",
  "some words that are long enough to be kept ",
];

const long = (chance: Chance, words: readonly string[]): string =>
  chance.is(0.03)
    ? (chance.pick(words) + chance.pick(words)).repeat(10_000)
    : mutateText(chance, anyText(chance, words, 60), words);

export const summaryTarget: FuzzTarget = {
  name: "summary",
  make: (chance) => long(chance, tags),
  run(input) {
    if (typeof input !== "string") return undefined;
    return (["structured", "tagged"] as const).flatMap((format) =>
      [8192, 20, null].map((summaryMaxTokens) => {
        const settings = compactionSettings({ format, summaryMaxTokens });
        const parsed = parseSummary(input, settings);
        if (parsed === undefined) return null;
        const blocks = summaryBlocks(parsed).join("\n\n");
        // The summary is read back next time: it must not grow in the process, nor move to another section.
        const again = readEarlier(blocks);
        const twice = again === undefined ? "" : summaryBlocks(again).join("\n\n");
        demand(
          twice.length <= blocks.length,
          `a memory of ${blocks.length} characters becomes one of ${twice.length}`,
        );
        demand(tagged("refs", input).split(/<\/refs>/i).length === 2, "a text closes the tag around it");
        return { parsed, twice };
      }),
    );
  },
};

const secret = "hunter2-hunter2";
const words = [
  secret,
  "hunter2-",
  "sk-",
  "sk-abcdefghijklmnopqrst",
  "AKIA",
  "ABCDEFGHIJKLMNOP",
  "eyJ",
  "eyJabcdefghijkl.",
  "Bearer ",
  "Basic abcdefghijklmnopqrst==",
  "ghp_",
  "://u:",
  "@",
  "://",
  "-----BEGIN ",
  "PRIVATE KEY-----",
  "-----END ",
  "RSA ",
  '"password": "',
  '"api-key":"x"',
  '"',
  "\\",
  "a",
  "abcdefghijklmnopqrstuvwxyz",
  "\n",
  "-",
];

export const redactionTarget: FuzzTarget = {
  name: "redaction",
  make: (chance) => ({
    text: long(chance, words),
    value: chance.is(0.5)
      ? anyJson(chance, 4)
      : mutateJson(chance, { password: "x", list: [{ secret: { a: secret } }] }),
  }),
  run(input) {
    if (!isObject(input) || typeof input.text !== "string") return undefined;
    const redact = textRedaction({ secrets: [secret] });
    const text = redact(input.text);
    demand(!text.includes(secret), "a secret is still there");
    const { length } = text;
    demand(
      length <= input.text.length + redacted.length * (input.text.length + 1),
      "it grew beyond every bound",
    );
    const fact = (value: Json): Fact =>
      ({
        type: "noted",
        about: value,
        message: { role: "user", content: [{ type: "text", text: input.text as Json }] },
      }) as unknown as Fact;
    const given = fact(input.value ?? null);
    const before = JSON.stringify(given);
    const out = outcomeOf(() => redaction({ secrets: [secret] })(given));
    demand(JSON.stringify(given) === before, "the fact itself was changed");
    demand(!JSON.stringify(out).includes(secret), "a secret is still in the fact");
    same([redact(input.text), text], "the first time and the second, of which");
    return { text, out };
  },
};
