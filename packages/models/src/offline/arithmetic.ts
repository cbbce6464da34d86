// The room of arithmetic: a sum in words or symbols becomes an expression for the calculator tool. It computes nothing.
//
// A clause is a sum only if all of it reduces to numbers, operators and known functions: "lines 10-20 of x" is none.

import { numberOf } from "./lexicon.ts";

const opening =
  /^(?:(?:please|now|so|and|then|also|hey|can you|could you|tell me|give me|show me|what(?:'s| is| are| does| do)?|how much(?: is| are| does)?|calculate|compute|evaluate|work out|figure out|solve|find|do the math:?|the (?:result|value|answer) (?:of|to)|result of|value of|is|equals?|get)\b[\s:,]*)+/;

const closing = /[\s,]*(?:equals?(?: to)?|make|be|is|come to|give|please|=|=\s*\?)?[\s?.!=]*$/;

const listOf = (text: string): string[] =>
  text.split(/\s*(?:,\s*and|,|\band\b|&)\s*/).filter((item) => item.trim() !== "");

const paren = (text: string): string => (/^[\d.]+$/.test(text.trim()) ? text.trim() : `(${text.trim()})`);

const joined = (list: string, sign: string): string => listOf(list).map(paren).join(` ${sign} `);

type Rewrite = [RegExp, (...groups: string[]) => string];

/** Phrases that take the rest of the sum as their operand, tried in order until none fits. */
const phrases: Rewrite[] = [
  [/^the\s+(.*)$/, (rest) => rest],
  [/^(?:sum|total) of (.+)$/, (list) => joined(list, "+")],
  [/^product of (.+)$/, (list) => joined(list, "*")],
  [/^(?:average|mean) of (.+)$/, (list) => `(${joined(list, "+")}) / ${listOf(list).length}`],
  [
    /^(?:max|maximum|largest|greatest|biggest|bigger|larger) of (.+)$/,
    (list) => `max(${listOf(list).join(", ")})`,
  ],
  [/^(?:min|minimum|smallest|least|smaller) of (.+)$/, (list) => `min(${listOf(list).join(", ")})`],
  [/^difference (?:between|of) (.+?) and (.+)$/, (a, b) => `${paren(a)} - ${paren(b)}`],
  [/^(?:quotient|ratio) of (.+?) (?:and|to) (.+)$/, (a, b) => `${paren(a)} / ${paren(b)}`],
  [
    /^remainder (?:of|when|after|from)?\s*(?:dividing )?(.+?) (?:is )?(?:divided )?by (.+)$/,
    (a, b) => `${paren(a)} % ${paren(b)}`,
  ],
  [/^add (.+?) to (.+)$/, (a, b) => `${paren(b)} + ${paren(a)}`],
  [/^add (?:up )?(.+)$/, (list) => joined(list, "+")],
  [/^(?:subtract|take(?: away)?|deduct) (.+?) from (.+)$/, (a, b) => `${paren(b)} - ${paren(a)}`],
  [/^multiply (.+?) (?:by|with|and|times) (.+)$/, (a, b) => `${paren(a)} * ${paren(b)}`],
  [/^divide (.+?) by (.+)$/, (a, b) => `${paren(a)} / ${paren(b)}`],
  [/^(?:the )?square root of (.+)$/, (a) => `sqrt(${a})`],
  [/^square of (.+)$/, (a) => `${paren(a)}^2`],
  [/^cube of (.+)$/, (a) => `${paren(a)}^3`],
  [/^root of (.+)$/, (a) => `sqrt(${a})`],
  [/^half (?:of )?(.+)$/, (a) => `${paren(a)} / 2`],
  [/^(?:a )?third of (.+)$/, (a) => `${paren(a)} / 3`],
  [/^(?:a )?quarter of (.+)$/, (a) => `${paren(a)} / 4`],
  [/^(?:double|twice) (.+)$/, (a) => `2 * ${paren(a)}`],
  [/^triple (.+)$/, (a) => `3 * ${paren(a)}`],
];

/** Words between or after operands. */
const operators: [RegExp, string][] = [
  [/([\d.]+)\s*(?:%|percent|per cent)\s*of\s+/g, "$1 / 100 * "],
  [/\bsquare root of ([\d.]+)/g, "sqrt($1)"],
  [/\bsquare root of \(/g, "sqrt("],
  [/\s*\b(?:to the power of|raised to the power of|raised to|to the)\s+/g, "^"],
  [/(\^[\d.]+)(?:st|nd|rd|th)?(?: power)?/g, "$1"],
  [/\s+squared\b/g, "^2"],
  [/\s+cubed\b/g, "^3"],
  [/\s*\b(?:multiplied by|times)\s+/g, " * "],
  [/\s*\b(?:divided by|over)\s+/g, " / "],
  [/\s*\bplus\s+/g, " + "],
  [/\s*\b(?:minus|less)\s+/g, " - "],
  [/\s*\b(?:modulo|mod)\s+/g, " % "],
  [/(\d)\s*[x×]\s*(?=[\d(])/g, "$1 * "],
  [/[×·]/g, "*"],
  [/[÷]/g, "/"],
  [/[−–]/g, "-"],
  [/√\s*\(/g, "sqrt("],
  [/√\s*([\d.]+)/g, "sqrt($1)"],
  [/\*\*/g, "^"],
];

const functions = /\b(?:sqrt|cbrt|abs|min|max|round|floor|ceil|log|ln|exp|sin|cos|tan|pi)\b/g;

/** In characters: longer than any sum in words, and than calculators accept. */
const longest = 4000;

/** The expression that a clause asks for, with `^` for powers; undefined if the clause is not a sum. */
export function expressionOf(clause: string): string | undefined {
  if (clause.length > longest) return undefined;
  let text = clause
    .toLowerCase()
    .replace(/[`"“”]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  text = text.replace(opening, "").replace(closing, "");
  if (
    !/\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b/.test(text)
  )
    return undefined;
  text = digits(text);
  for (let turns = 0; turns < 6; turns++) {
    const before = text;
    for (const [pattern, rewrite] of phrases) {
      const found = pattern.exec(text);
      if (found !== null) {
        text = rewrite(...found.slice(1));
        break;
      }
    }
    if (text === before) break;
  }
  for (const [pattern, put] of operators) text = text.replace(pattern, put);
  const bare = text.replace(functions, "f");
  if (!/^[\d\s.+\-*/^%(),f!]+$/.test(bare)) return undefined;
  const counts = /\d\s*\)*\s*[+\-*/^%]\s*[-(\df]/.test(bare) || /f\s*\(/.test(bare) || /\d!/.test(bare);
  return counts && /\d/.test(bare) ? text.replace(/\s+/g, " ").trim() : undefined;
}

/** Number words as numerals, thousands without their commas. */
function digits(text: string): string {
  return text
    .replace(/\b\d{1,3}(?:,\d{3})+\b/g, (number) => number.replaceAll(",", ""))
    .replace(/\b(?:a |one )?(hundred|thousand|million)\b/g, (all, word: string) =>
      /^(a|one) /.test(all) ? scale(word) : ` * ${scale(word)}`,
    )
    .replace(/[a-z]+(?:-[a-z]+)?/g, (word) => {
      const number = numberOf(word);
      return number === undefined ? word : String(number);
    })
    .replace(/(\d+) \* (100|1000|1000000)\b/g, (_, left: string, right: string) =>
      String(Number(left) * Number(right)),
    );
}

const scale = (word: string): string =>
  ({ hundred: "100", thousand: "1000", million: "1000000" })[word] ?? "1";
