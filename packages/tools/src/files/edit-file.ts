// The room of edit_file: replaces a passage by another, exactly.
//
// It works on bytes, so that everything else stays as it was, even invalid UTF-8. A file in UTF-16 is edited as
// decoded text.

import { isUtf8 } from "node:buffer";
import { type Tool, type ToolResult, tool, toolResult } from "@rondo/core";
import { checkGiven, flag, from0, membersOf } from "@rondo/core/checks";
import { answering } from "../answering.ts";
import { type FileToolOptions, type FileToolSet, fileToolChecks, fileToolSet } from "../options.ts";
import { keyOf } from "../paths/given-path.ts";
import { counted, Refusal, shown } from "../reasons.ts";
import { contentIdOf, fileEntry } from "../stale-writes.ts";
import { mustBeWhole } from "../text/meant-text.ts";
import { nearPassage } from "../text/near-passage.ts";
import {
  leastSize,
  lineNumbers,
  maxStretches,
  replaced,
  stretchesOf,
  withoutReturns,
} from "../text/passages.ts";
import { mustFitEncoding, mustNotBeShown, shownHint } from "../text/shown-text.ts";
import { binaryKind, linesIn } from "../text/text-file.ts";
import { inUtf16, textOf, utf16Of } from "../text/text-form.ts";
import {
  bytesOf,
  type ChangeBounds,
  change,
  mustBeAsSeen,
  mustNotExceed,
  otherNamesNote,
} from "./atomic-write.ts";

export interface EditFileOptions extends FileToolOptions {
  /** Allow changes in `.git`, whose hooks and settings run programs. Default: false. */
  writeGit?: boolean;
  /** Largest file, in bytes. Default: 32 MiB. */
  maxBytes?: number;
}

interface Args {
  path: string;
  oldText: string;
  newText: string;
  replaceAll?: boolean;
}

const optionChecks = membersOf<EditFileOptions>(
  {
    ...fileToolChecks,
    writeGit: flag,
    maxBytes: from0,
  },
  ["root"],
);

/** The tool `edit_file`. */
export function editFile(options: EditFileOptions): Tool {
  checkGiven(optionChecks, options, "editFile");
  const set = fileToolSet(options.root);
  const bounds: ChangeBounds = {
    maxBytes: options.maxBytes ?? 32 * 1024 * 1024,
    writeGit: options.writeGit ?? false,
  };
  return tool({
    name: "edit_file",
    description:
      "Replaces a passage of a text file by another. The old text must occur in the file exactly as given, including " +
      "whitespace, and only once, unless replaceAll is true.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, relative to the root." },
        oldText: {
          type: "string",
          minLength: 1,
          description: "The passage to replace, exactly as it is in the file.",
        },
        newText: { type: "string", description: "The replacement. Empty: the passage is removed." },
        replaceAll: {
          type: "boolean",
          description: "Replace every occurrence. Default: false.",
        },
      },
      required: ["path", "oldText", "newText"],
    },
    effect: "write",
    permission: options.permission ?? "allow",
    keys: (args) => [keyOf(set.root, args.path)],
    execute: (args, context) =>
      answering(context, args.path, () => replacedIn(set, args, bounds, context.signal)),
  });
}

async function replacedIn(
  set: FileToolSet,
  args: Args,
  bounds: ChangeBounds,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (args.oldText === args.newText)
    throw new Refusal("the old and the new text are the same; nothing was changed");
  const edit: Edit = {
    ...args,
    old: bytesOf(args.oldText, "the old text"),
    fresh: bytesOf(args.newText, "the new text"),
  };
  let done: Edited | undefined;
  const { place, hadOtherNames } = await change(set, args.path, bounds, signal, (before, there) => {
    if (before === undefined)
      throw new Refusal(`${set.root.notThere("file", there).message}; a new file is made with write_file`);
    mustBeAsSeen(set, before, there);
    done = edited(before.bytes, edit, there.shown, bounds.maxBytes);
    return { bytes: done.bytes, partOf: done.lines };
  });
  const { places, lines, bytes } = done as Edited;
  const size = `${counted(lines, "line")}, ${counted(bytes.length, "byte")}`;
  return toolResult(
    `Replaced ${counted(places.length, "occurrence")} in ${shown(place.shown)} at ${listed(places)} (now ${size})` +
      (hadOtherNames ? `\n${otherNamesNote}` : ""),
    { ledger: [fileEntry("file_written", place.shown, contentIdOf(bytes))] },
  );
}

/** The call's arguments, with the texts as bytes too. */
interface Edit extends Args {
  old: Buffer;
  fresh: Buffer;
}

interface Edited {
  bytes: Buffer;
  /** How many lines the file has now. */
  lines: number;
  /** The lines in which something was replaced. */
  places: number[];
}

/** The file's new content. @throws Refusal when the passage cannot be replaced */
function edited(before: Buffer, edit: Edit, path: string, maxBytes: number): Edited {
  const { newText, old, fresh, replaceAll = false } = edit;
  const utf16 = utf16Of(before);
  const file = utf16 === undefined ? before : decoded(before, utf16, path);
  const kind = binaryKind(file);
  if (kind !== undefined) throw new Refusal(`${shown(path)} is not text (${kind}); it cannot be edited`);
  let instead = fresh;
  let found = stretchesOf(file, old, replaceAll);
  if (found.length === 0 && old.includes("\r\n")) {
    // The new text has CRLF where the file has none.
    instead = withoutReturns(fresh);
    found = stretchesOf(file, withoutReturns(old), replaceAll);
  }
  if (found.length === 0) throw new Refusal(missing(file, edit, path));
  if (found.length === maxStretches)
    throw new Refusal(
      `the old text occurs ${maxStretches.toLocaleString("en-US")} times or more in ${shown(path)}; nothing was changed`,
    );
  const places = lineNumbers(file, found);
  if (found.length > 1 && !replaceAll)
    throw new Refusal(
      `the old text is not unique: it occurs ${found.length.toLocaleString("en-US")} times in ${shown(path)}, ` +
        `at ${listed(places)}; nothing was changed. Give more of the text around it, or set replaceAll`,
    );
  mustNotBeShown(newText, file, "the new text");
  mustBeWhole(newText, old, "the new text");
  if (utf16 === undefined) mustFitEncoding(newText, file, "the new text");
  // Checked before it is built: a passage of one letter may occur a million times. UTF-16 may need two bytes for three of UTF-8.
  const least = leastSize(file, found, instead);
  mustNotExceed(maxBytes, utf16 === undefined ? least : Math.ceil(least / 1.5));
  const text = replaced(file, found, instead);
  return { bytes: utf16 === undefined ? text : inUtf16(text, utf16), lines: linesIn(text), places };
}

/** Line numbers without repetition. */
function listed(places: readonly number[]): string {
  const lines = [...new Set(places)];
  const first = lines.slice(0, 10).join(", ");
  const more = lines.length > 10 ? ` and ${(lines.length - 10).toLocaleString("en-US")} more` : "";
  return `${lines.length === 1 ? "line" : "lines"} ${first}${more}`;
}

/** The decoded text of a file in UTF-16; it must encode back to the same bytes. */
function decoded(bytes: Buffer, encoding: "utf-16le" | "utf-16be", path: string): Buffer {
  const text = textOf(bytes, encoding);
  if (!inUtf16(text, encoding).equals(bytes))
    throw new Refusal(`${shown(path)} is not text (damaged UTF-16); it cannot be edited`);
  return text;
}

/** In larger files no near match is searched for: it would block everything for seconds. */
const maxNear = 2 * 1024 * 1024;

/** Why a passage was not found, with the nearest match. */
function missing(file: Buffer, { oldText, newText, fresh }: Edit, path: string): string {
  if (file.length === 0) return `${shown(path)} is empty; nothing was changed. Write it with write_file`;
  // Invalid bytes decode to U+FFFD, so a passage with U+FFFD would be found in the decoded file.
  const isShown = oldText.includes("\ufffd") && !isUtf8(file);
  const near = isShown || file.length > maxNear ? undefined : nearPassage(file.toString("utf8"), oldText);
  const hint = near ?? (shownHint(oldText) || readHint);
  return `the old text does not occur in ${shown(path)}; nothing was changed${doneHint(file, newText, fresh)}${hint}`;
}

const readHint = ". Read the file with read_file, and give the passage exactly as it is there";

/** Shorter texts are in many files by chance. */
const minDone = 12;

/** A hint that the edit may have been made before, as when a call is repeated; empty if not. */
function doneHint(file: Buffer, newText: string, fresh: Buffer): string {
  if (newText.trim().length < minDone) return "";
  const there = stretchesOf(file, fresh, false).slice(0, 1);
  return there.length === 0
    ? ""
    : `. The new text is already in it, at line ${lineNumbers(file, there)[0]}: the change may have been made before`;
}
