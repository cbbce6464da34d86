// The room of lines: how a group is written as a line of a file, and how a file is read back.
//
// One line is one group, so a group is kept or lost whole: {"crc":"9ae0daaf","seq":0,"records":[…]} and a line feed. The
// checksum covers everything after it. CRC-32 finds what disks and crashes do (cut, zeroed, flipped bytes) at more than
// a gigabyte per second; against somebody who edits the file no checksum inside it helps. A line counts once its line
// feed is there. Bytes after the last line feed were never acknowledged: a torn tail. A power failure may also leave a
// hole of zero bytes in the last line, and zero bytes behind it: that is a torn tail, too. So are blank lines at the end,
// which an editor added; line ends of Windows and a byte order mark change no line, and are read over. A file that was
// rotated ends in a seal, {"crc":"…","seq":120,"next":2}; the session continues in the next file.

import { readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type LogRecord, messageOf, parsedJson } from "@rondo/core";

/** The version of this format. A file with a higher one is refused. */
export const linesVersion = 1;

/** The first line of every file. */
export interface Header {
  rondo: "session";
  format: number;
  id: string;
  /** Number of this segment, and the seq of its first record. Absent in the first segment. */
  segment?: number;
  seq?: number;
}

/** How many records before the damage are whole, as a phrase. */
export const wholeBefore = (records: number): string =>
  `${records} ${records === 1 ? "record before it is" : "records before it are"} whole`;

const lead = '{"crc":"';
/** `{"crc":"xxxxxxxx",` */
const leadLength = 18;

const checksum = (bytes: Uint8Array): string => crc32(bytes).toString(16).padStart(8, "0");

function line(rest: string): Buffer {
  const bytes = Buffer.from(`${lead}xxxxxxxx",${rest}\n`);
  bytes.write(checksum(bytes.subarray(leadLength, -1)), lead.length, "latin1");
  return bytes;
}

export function headerLine(id: string, segment = 1, seq = 0): Buffer {
  const later = segment === 1 ? {} : { segment, seq };
  const header: Header = { rondo: "session", format: linesVersion, id, ...later };
  return line(JSON.stringify(header).slice(1));
}

/** The last line of a file that another file follows. */
export function sealLine(seq: number, next: number): Buffer {
  return line(`"seq":${seq},"next":${next}}`);
}

/** @param texts the JSON of each record */
export function groupLine(seq: number, texts: readonly string[]): Buffer {
  return line(`"seq":${seq},"records":[${texts.join(",")}]}`);
}

/** The content of a line, or why it has none. `bytes` excludes the line feed. */
function open(bytes: Buffer): { value: unknown } | { why: string } {
  if (bytes.length < leadLength || bytes.toString("latin1", 0, lead.length) !== lead)
    return { why: "it does not begin with a checksum" };
  const said = bytes.toString("latin1", lead.length, lead.length + 8);
  const is = checksum(bytes.subarray(leadLength));
  if (said !== is) return { why: `its checksum is ${is}, not ${said}` };
  try {
    return { value: parsedJson(bytes.toString("utf8")) };
  } catch (thrown) {
    return { why: messageOf(thrown) };
  }
}

/** Where reading begins: line number and offset of the next line, and the seq its first record must have. */
export interface Place {
  line: number;
  offset: number;
  seq: number;
}

export type Line =
  | ({ what: "header"; header: Header; end: number } & Place)
  | ({ what: "group"; records: LogRecord[]; end: number } & Place)
  | ({ what: "seal"; end: number } & Place);

export interface Scanned {
  /** After the last whole line. */
  end: Place;
  /** Bytes of a torn tail after `end`. */
  torn: number;
  /** The first damaged line; nothing after it was read. */
  damage?: { line: number; seq: number; why: string };
}

export const behindSeal = "it stands behind the seal of its file";
export const noHead = "the head of its file is gone";
export const changedInPlace = "it was changed after it had been read";

const chunkBytes = 1 << 20;

/**
 * Reads lines from a place until the file ends, or until a torn tail or damage.
 * @param size how many bytes of the file to read
 */
export function scan(file: number, from: Place, size: number, visit: (line: Line) => void): Scanned {
  let { line: number, offset, seq } = from;
  let rest: Buffer = Buffer.alloc(0);
  let read = offset;
  for (;;) {
    const end = rest.indexOf(10);
    if (end < 0) {
      if (read >= size) break;
      const chunk = Buffer.allocUnsafe(Math.min(Math.max(chunkBytes, rest.length), size - read));
      const got = readSync(file, chunk, 0, chunk.length, read);
      if (got === 0) break;
      read += got;
      rest = rest.length === 0 ? chunk.subarray(0, got) : Buffer.concat([rest, chunk.subarray(0, got)]);
      continue;
    }
    const bytes = lineIn(rest.subarray(0, end), offset);
    const after = offset + end + 1;
    const place = { line: number, offset, seq };
    const opened = open(bytes);
    const said = "why" in opened ? opened : meaning(opened.value, place, after);
    if ("why" in said) {
      // A crash may have lost a page in the middle of the last line, and left the file longer than what was written to it: JSON
      // contains no zero bytes. Nor is there anything in blank lines, if nothing follows them.
      const isLast =
        (bytes.includes(0) || isBlank(bytes)) &&
        isBlank(rest.subarray(end + 1)) &&
        isBlankFrom(file, read, size);
      if (isLast) return { end: place, torn: size - offset };
      return { end: place, torn: 0, damage: { line: number, seq, why: said.why } };
    }
    visit(said);
    if (said.what === "group") seq += said.records.length;
    rest = rest.subarray(end + 1);
    offset = after;
    number += 1;
    if (said.what === "seal" && offset < size)
      return { end: { line: number, offset, seq }, torn: 0, damage: { line: number, seq, why: behindSeal } };
  }
  return { end: { line: number, offset, seq }, torn: Math.max(0, size - offset) };
}

const mark = Buffer.from("\uFEFF");

/** A line without what text tools put around it: a byte order mark, and the first half of a line end of Windows. */
function lineIn(bytes: Buffer, offset: number): Buffer {
  const from = offset === 0 && bytes.subarray(0, mark.length).equals(mark) ? mark.length : 0;
  const to = bytes.at(-1) === 13 ? bytes.length - 1 : bytes.length;
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
}

/** Zero bytes, line ends, spaces and tabs. */
export const isBlankByte = (byte: number): boolean =>
  byte === 0 || byte === 10 || byte === 13 || byte === 32 || byte === 9;

const isBlank = (bytes: Uint8Array): boolean => bytes.every(isBlankByte);

/** Whether the rest of a file is blank. */
function isBlankFrom(file: number, from: number, size: number): boolean {
  const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(chunkBytes, size - from)));
  for (let at = from; at < size; ) {
    const got = readSync(file, chunk, 0, Math.min(chunk.length, size - at), at);
    if (got === 0) return true;
    if (!isBlank(chunk.subarray(0, got))) return false;
    at += got;
  }
  return true;
}

function meaning(value: unknown, place: Place, end: number): Line | { why: string } {
  const held = value as Partial<Header & { seq: number; records: LogRecord[]; next: number }>;
  if (place.line === 1) {
    if (held.rondo !== "session" || typeof held.id !== "string" || typeof held.format !== "number")
      return { why: "it is not the head of a session" };
    if ((held.seq ?? 0) !== place.seq)
      return { why: `its file begins with record ${held.seq ?? 0}, and ${place.seq} is due` };
    return { what: "header", header: held as Header, end, ...place };
  }
  if (held.seq !== place.seq) return { why: `it begins with record ${held.seq}, and ${place.seq} is due` };
  if (typeof held.next === "number") return { what: "seal", end, ...place };
  if (!Array.isArray(held.records) || held.records.length === 0) return { why: "it holds no records" };
  const wrong = held.records.findIndex((record, i) => record?.seq !== place.seq + i);
  if (wrong >= 0) return { why: `its record ${wrong} is not numbered ${place.seq + wrong}` };
  return { what: "group", records: held.records, end, ...place };
}
