// The room of write_file: writes a whole file, but overwrites only what the model knows.

import { type Tool, type ToolResult, tool, toolResult } from "@rondo/core";
import { checkGiven, flag, from0, membersOf } from "@rondo/core/checks";
import { answering } from "../answering.ts";
import { type FileToolOptions, type FileToolSet, fileToolChecks, fileToolSet } from "../options.ts";
import { keyOf } from "../paths/given-path.ts";
import type { Place } from "../paths/root.ts";
import { counted, Refusal, shown } from "../reasons.ts";
import { contentIdOf, fileEntry } from "../stale-writes.ts";
import { mustBeWhole, oddContent } from "../text/meant-text.ts";
import { isOtherEncoding, mustNotBeShown } from "../text/shown-text.ts";
import { binaryKind, linesIn } from "../text/text-file.ts";
import { formOf, inForm, type TextForm, textOf } from "../text/text-form.ts";
import {
  type Before,
  bytesOf,
  type ChangeBounds,
  change,
  mustBeAsSeen,
  otherNamesNote,
} from "./atomic-write.ts";

export interface WriteFileOptions extends FileToolOptions {
  /** Allow overwriting a file that the model has not read, or not completely. Default: false. */
  overwriteUnread?: boolean;
  /** Allow changes in `.git`, whose hooks and settings run programs. Default: false. */
  writeGit?: boolean;
  /** Largest content, in bytes. Default: 32 MiB. */
  maxBytes?: number;
}

interface Args {
  path: string;
  content: string;
}

const optionChecks = membersOf<WriteFileOptions>(
  {
    ...fileToolChecks,
    overwriteUnread: flag,
    writeGit: flag,
    maxBytes: from0,
  },
  ["root"],
);

/** The tool `write_file`. */
export function writeFile(options: WriteFileOptions): Tool {
  checkGiven(optionChecks, options, "writeFile");
  const set = fileToolSet(options.root);
  const bounds: Bounds = {
    maxBytes: options.maxBytes ?? 32 * 1024 * 1024,
    writeGit: options.writeGit ?? false,
    overwriteUnread: options.overwriteUnread ?? false,
  };
  return tool({
    name: "write_file",
    description:
      "Writes a whole text file; creates it and missing folders. " +
      (bounds.overwriteUnread
        ? "A file that has changed since it was read is not overwritten."
        : "An existing file is overwritten only if all of it was read before and it has not changed since."),
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, relative to the root." },
        content: { type: "string", description: "The whole new content." },
      },
      required: ["path", "content"],
    },
    effect: "idempotent",
    permission: options.permission ?? "allow",
    keys: (args) => [keyOf(set.root, args.path)],
    execute: (args, context) =>
      answering(context, args.path, () => written(set, args, bounds, context.signal)),
  });
}

type Bounds = ChangeBounds & Required<Pick<WriteFileOptions, "overwriteUnread">>;

async function written(
  set: FileToolSet,
  { path, content }: Args,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<ToolResult> {
  const given = bytesOf(content, "the content");
  let bytes = given;
  let kept = "";
  let did = "Created";
  const { made, place, hadOtherNames } = await change(set, path, bounds, signal, (before, there) => {
    if (before === undefined) return { bytes };
    const form = formOf(before.bytes);
    bytes = inForm(given, form);
    kept = keptWords(form, given, bytes);
    // The same content again, for example when a call is repeated after a crash: nothing can be lost.
    if (before.bytes.equals(bytes) || before.bytes.equals(given)) {
      did = "Unchanged";
      bytes = before.bytes;
      return { bytes: undefined };
    }
    if (!bounds.overwriteUnread && before.bytes.length > 0) mustBeSeen(set, before, there, form);
    mustBeAsSeen(set, before, there);
    const text = form.encoding === "utf-8" ? before.bytes : textOf(before.bytes, form.encoding);
    mustNotBeShown(content, text, "the content");
    mustBeWhole(content, text, "the content");
    did = "Overwrote";
    return { bytes };
  });
  const size = `${counted(linesIn(given), "line")}, ${counted(bytes.length, "byte")}${kept}`;
  const name = shown(place.shown);
  const folders = made > 0 ? `; made ${counted(made, "folder")}` : "";
  // Also when unchanged: a call repeated after a crash did what the first one did.
  const ledger = [fileEntry("file_written", place.shown, contentIdOf(bytes))];
  return did === "Unchanged"
    ? toolResult(`Unchanged: ${name} already holds this content (${size})`, { ledger })
    : toolResult(
        [
          `${did} ${name} (${size}${folders})`,
          ...(hadOtherNames ? [otherNamesNote] : []),
          ...oddContent(content),
        ].join("\n"),
        { ledger },
      );
}

/** @throws Refusal when a part of the file was never shown to the model, and would be lost */
function mustBeSeen(set: FileToolSet, before: Before, place: Place, form: TextForm): void {
  const name = shown(place.shown);
  if (set.seen.get(place.real) === undefined)
    throw new Refusal(
      `${name} exists (${counted(before.bytes.length, "byte")}) and was not read yet; nothing was written. ` +
        "Read it with read_file before overwriting it, or change a part of it with edit_file",
    );
  const unseen = set.seen.unseen(place.real);
  if (unseen !== undefined)
    throw new Refusal(
      `${name} was read only in part, without lines ${unseen.from} to ${unseen.to}; nothing was written. ` +
        `Read the rest with read_file (offset ${unseen.from}) before overwriting it, or change a part of it with edit_file`,
    );
  const inPart = set.seen.inPart(place.real);
  if (inPart !== undefined)
    throw new Refusal(
      `line ${inPart} of ${name} is longer than read_file shows, and what was not shown of it would be lost; ` +
        "nothing was written. Change a part of it with edit_file",
    );
  if (form.encoding === "utf-8" && binaryKind(before.bytes) === undefined && isOtherEncoding(before.bytes))
    throw new Refusal(
      `${name} is not in UTF-8, so its characters beyond ASCII were not shown, and would be lost; nothing was written. ` +
        "Change other parts of it with edit_file, or convert it first with a command (iconv), and read it again",
    );
}

/** A note on what the new content took over from the old file's form. */
function keptWords(form: TextForm, given: Buffer, bytes: Buffer): string {
  const kept = [
    ...(form.encoding === "utf-8" ? [] : ["UTF-16"]),
    ...(form.crlf && bytes.includes(13) && !given.includes(13) ? ["CRLF"] : []),
    ...(form.encoding === "utf-8" && form.mark ? ["byte order mark"] : []),
  ];
  return kept.length === 0 ? "" : `; ${kept.join(" and ")} kept`;
}
