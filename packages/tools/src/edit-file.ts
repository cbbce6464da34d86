// The room of edit_file: one passage replaced by another, exactly.
//
// It works on bytes, so that what it does not replace stays as it was, also where it is no valid UTF-8. Where the
// whole file ends its lines with CRLF, a passage given with plain newlines means those.

import { type Tool, tool, toolResult } from "@rondo/core";
import { checkGiven, flag, from0, membersOf } from "@rondo/core/checks";
import { bytesOf, change, linesIn, mustBeAsSeen } from "./change.ts";
import { keyOf } from "./given-path.ts";
import { type FileToolOptions, fileToolChecks, fileToolSet } from "./options.ts";
import { counted, Refusal, shown } from "./reasons.ts";
import { answering } from "./refusal.ts";
import { type ContentId, contentIdOf, fileEntry } from "./seen.ts";
import { binaryKind } from "./text-file.ts";

export interface EditFileOptions extends FileToolOptions {
  /** Allow changes in `.git`, whose hooks and settings run as programs. Default: false. */
  writeGit?: boolean;
  /** Default: 32 MiB. */
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
  const bounds = {
    maxBytes: options.maxBytes ?? 32 * 1024 * 1024,
    writeGit: options.writeGit ?? false,
  };
  return tool({
    name: "edit_file",
    description:
      "Replaces a passage of a text file by another. The old text must stand in the file exactly as given, white space " +
      "among it, and only once, unless replaceAll is true.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, relative to the root." },
        oldText: {
          type: "string",
          minLength: 1,
          description: "The passage to replace, exactly as it stands in the file.",
        },
        newText: { type: "string", description: "What takes its place. Empty: the passage is taken out." },
        replaceAll: {
          type: "boolean",
          description: "Replace the passage wherever it stands. Default: false.",
        },
      },
      required: ["path", "oldText", "newText"],
    },
    effect: "write",
    permission: options.permission ?? "allow",
    keys: (args) => [keyOf(set.root, String(args.path))],
    execute: (given, context) => {
      const { path, oldText, newText, replaceAll = false } = given as unknown as Args;
      return answering(
        context,
        async () => {
          if (oldText === newText)
            throw new Refusal("the old and the new text are the same; nothing was changed");
          const old = bytesOf(oldText, "the old text");
          const fresh = bytesOf(newText, "the new text");
          let places: number[] = [];
          let size = "";
          let content: ContentId | undefined;
          const { place } = await change(set, path, bounds, context.signal, (before, there) => {
            if (before === undefined) throw set.root.notThere("file", there);
            mustBeAsSeen(set, before, there);
            const kind = before.bytes.length === 0 ? undefined : binaryKind(before.bytes.subarray(0, 8192));
            if (kind !== undefined)
              throw new Refusal(`${shown(there.shown)} is no text (${kind}); it cannot be edited`);
            const [passage, instead] = inItsLines(before.bytes, old, fresh);
            const found = occurrences(before.bytes, passage);
            if (found.length === 0) throw new Refusal(missing(before.bytes, oldText, there.shown));
            if (found.length > 1 && !replaceAll)
              throw new Refusal(
                `the old text is not unique: it stands ${found.length.toLocaleString("en-US")} times in ${shown(there.shown)}, ` +
                  `at ${linesAt(before.bytes, found)}; nothing was changed. Give more of the text around it, or set replaceAll`,
              );
            places = lineNumbers(before.bytes, found);
            const bytes = replaced(before.bytes, found, passage.length, instead);
            size = `${counted(linesIn(bytes), "line")}, ${counted(bytes.length, "byte")}`;
            content = contentIdOf(bytes);
            return { bytes };
          });
          const where = places.length === 1 ? `at line ${places[0]}` : `at ${listed(places)}`;
          return toolResult(
            `Replaced ${counted(places.length, "occurrence")} in ${shown(place.shown)} ${where} (now ${size})`,
            { ledger: [fileEntry("file_written", place.shown, content)] },
          );
        },
        path,
      );
    },
  });
}

/** The passage and what replaces it, with the file's own line ends. */
function inItsLines(file: Buffer, old: Buffer, fresh: Buffer): [Buffer, Buffer] {
  if (!file.includes("\r\n") || old.includes(13) || fresh.includes(13)) return [old, fresh];
  for (let at = file.indexOf(10); at >= 0; at = file.indexOf(10, at + 1))
    if (file[at - 1] !== 13) return [old, fresh];
  const crlf = (bytes: Buffer): Buffer =>
    Buffer.from(bytes.toString("utf8").replaceAll("\n", "\r\n"), "utf8");
  return [crlf(old), crlf(fresh)];
}

function occurrences(file: Buffer, passage: Buffer): number[] {
  const found: number[] = [];
  for (let at = file.indexOf(passage); at >= 0; at = file.indexOf(passage, at + passage.length))
    found.push(at);
  return found;
}

function replaced(file: Buffer, found: readonly number[], length: number, instead: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const at of found) {
    pieces.push(file.subarray(from, at), instead);
    from = at + length;
  }
  pieces.push(file.subarray(from));
  return Buffer.concat(pieces);
}

/** The 1-based lines of ascending positions. */
function lineNumbers(file: Buffer, found: readonly number[]): number[] {
  const lines: number[] = [];
  let line = 1;
  let newline = file.indexOf(10);
  for (const at of found) {
    while (newline >= 0 && newline < at) {
      line++;
      newline = file.indexOf(10, newline + 1);
    }
    lines.push(line);
  }
  return lines;
}

const linesAt = (file: Buffer, found: readonly number[]): string => listed(lineNumbers(file, found));

function listed(lines: readonly number[]): string {
  const first = lines.slice(0, 10).join(", ");
  return `lines ${first}${lines.length > 10 ? ` and ${(lines.length - 10).toLocaleString("en-US")} more` : ""}`;
}

/** Why a passage was not found, with what comes near to it. */
function missing(file: Buffer, oldText: string, path: string): string {
  const near = nearLine(file.toString("utf8"), oldText);
  return (
    `the old text does not stand in ${shown(path)}; nothing was changed` +
    (near === undefined ? "" : `. A passage that differs from it only in white space begins at line ${near}`)
  );
}

function nearLine(text: string, oldText: string): number | undefined {
  const squeeze = (line: string): string => line.replace(/\s+/g, " ").trim();
  const wanted = oldText.split("\n").map(squeeze);
  while (wanted.length > 1 && wanted.at(-1) === "") wanted.pop();
  while (wanted.length > 1 && wanted[0] === "") wanted.shift();
  if (wanted.length === 1 && wanted[0] === "") return undefined;
  const lines = text.split("\n").map(squeeze);
  for (let at = 0; at + wanted.length <= lines.length; at++)
    if (wanted.every((line, index) => lines[at + index] === line)) return at + 1;
  return undefined;
}
