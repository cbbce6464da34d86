// The room of meant text: content that a model hardly means as it stands.
//
// A line that stands for lines left out would take their place: such a write is refused. What may be meant is written, and
// the result says how it looks: nothing is corrected on a guess.

import { counted, Refusal } from "../reasons.ts";
import { linesIn } from "./text-file.ts";

/** What a comment begins and ends with, and brackets. */
const around = /^[\s/*#<!%;{(["'-]+|[\s/*#>})\]"'-]+$/g;
const isComment = /^\s*(?:\/[/*]|#|<!--|--|\{\s*\/\*|[;%*])/;
const ofOmission = /\b(?:rest|remaining|existing|previous|original|unchanged|same)\b/i;
/** The words of lines that stand for others. */
const words =
  /^(?:the|rest|remaining|remains?|existing|previous|original|other|all|your|keep|kept|of|and|is|are|stays?|same|as|before|here|unchanged|code|file|content|contents|class|functions?|methods?|imports?|implementation|logic)$/i;
/** `rest of the code unchanged`, `original content here` */
const said =
  /^(?:the )?(?:(?:rest|remainder) of (?:the |your )?[\w ]{1,40}?(?: (?:is|are|stays?|remains?))?(?: the)? (?:unchanged|same|here|as before|as is)(?: as before)?|(?:existing|original|previous) (?:code|contents?|implementation)(?: (?:here|unchanged|remains|stays|goes here))+)\.?$/i;

/** `// ... existing code ...`, `# … (keep all existing code)`: not `...rest`, which is code, nor a comment that goes on after dots. */
function standsForOthers(line: string): boolean {
  if (line.length > 200 || !ofOmission.test(line)) return false;
  const inner = line.replace(around, "");
  const [, behind] = /^(?:\.{3}|\u2026)(.*)$/s.exec(inner) ?? [];
  if (behind === undefined) return said.test(inner);
  if (!isComment.test(line) && !/^\s/.test(behind)) return false;
  return (
    /(?:\.{3}|\u2026)\W*$/.test(behind) || (behind.match(/\w+/g) ?? []).every((word) => words.test(word))
  );
}

/**
 * Refuses a text that is shorter than what it replaces, and has a line for what it left out.
 * @throws Refusal
 */
export function mustBeWhole(text: string, before: Buffer, what: string): void {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.length >= linesIn(before)) return;
  const line = lines.find((one) => standsForOthers(one) && !before.includes(one.trim()));
  if (line === undefined) return;
  throw new Refusal(
    `${what} holds ${JSON.stringify(line.trim())}, which would take the place of lines that are there now; nothing was written. ` +
      "Give all lines, or change only those that are to be changed with edit_file",
  );
}

/** Fewer may be meant. */
const minEscapes = 2;

/** What about a whole new content looks unintended, as notes. */
export function oddContent(text: string): string[] {
  const escapes =
    text.trimEnd().includes("\n") || /^\s*[[{"'`]/.test(text) ? 0 : text.split("\\n").length - 1;
  return [
    ...(escapes < minEscapes
      ? []
      : [
          `it is one line with \\n as two characters ${counted(escapes, "time")}; if lines were meant, write it again with line breaks`,
        ]),
    ...(isFenced(text)
      ? ["its first and last lines are a code fence; if that was not meant, write it again without them"]
      : []),
  ].map((note) => `[${note}]`);
}

/** Whether one code block is all of it: between its fences there is none. */
function isFenced(text: string): boolean {
  const trimmed = text.trim();
  if (!trimmed.startsWith("```")) return false;
  const lines = trimmed.split("\n");
  const fences = lines.filter((line) => line.startsWith("```")).length;
  return (
    lines.length > 2 &&
    lines.at(-1)?.trim() === "```" &&
    (fences === 2 || /^```(?:markdown|md)\s*$/.test(lines[0]!))
  );
}
