// The room of a text's form: what a file keeps when its text changes.
//
// A model reads and writes lines, without the byte order mark, carriage returns and encoding of the file. The file keeps
// all of these.

import { headLength, looksLikeText } from "./text-file.ts";

export interface TextForm {
  encoding: "utf-8" | "utf-16le" | "utf-16be";
  /** It begins with a byte order mark. */
  mark: boolean;
  /** All its lines end with CRLF. */
  crlf: boolean;
}

export const utf8Mark: Buffer = Buffer.from([0xef, 0xbb, 0xbf]);

/** UTF-16, if the first bytes show it; undefined for anything else. */
export function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const head = bytes.subarray(0, headLength);
  const encoding =
    head[0] === 0xff && head[1] === 0xfe
      ? "utf-16le"
      : head[0] === 0xfe && head[1] === 0xff
        ? "utf-16be"
        : undefined;
  if (encoding === undefined) return undefined;
  // A half character at the end is ignored; anything else that is invalid means that it is not text.
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1), { stream: true });
  return looksLikeText(Buffer.from(text)) && !text.slice(0, -1).includes("\ufffd") ? encoding : undefined;
}

/** The form of a file that holds text. */
export function formOf(bytes: Buffer): TextForm {
  const encoding = utf16Of(bytes) ?? "utf-8";
  const text = encoding === "utf-8" ? bytes : textOf(bytes, encoding);
  return {
    encoding,
    mark: encoding !== "utf-8" || bytes.subarray(0, 3).equals(utf8Mark),
    crlf: endsWithCrlf(text),
  };
}

/** The content of a UTF-16 file, as UTF-8 without the byte order mark. */
export function textOf(bytes: Buffer, encoding: "utf-16le" | "utf-16be"): Buffer {
  return Buffer.from(new TextDecoder(encoding).decode(bytes));
}

/** UTF-8 text without a byte order mark, as UTF-16 with one. */
export function inUtf16(text: Buffer, encoding: "utf-16le" | "utf-16be"): Buffer {
  const bytes = Buffer.from(`\ufeff${text.toString("utf8")}`, "utf16le");
  return encoding === "utf-16be" ? bytes.swap16() : bytes;
}

/** A whole new text, given in UTF-8, in the form of the old file. A mark or CRs of its own are taken as intended. */
export function inForm(given: Buffer, form: TextForm): Buffer {
  const isMarked = given.subarray(0, 3).equals(utf8Mark);
  const plain = isMarked ? given.subarray(3) : given;
  const text = form.crlf && !plain.includes(13) ? withCrlf(plain) : plain;
  if (form.encoding !== "utf-8") return inUtf16(text, form.encoding);
  return form.mark || isMarked ? Buffer.concat([utf8Mark, text]) : text;
}

export const withCrlf = (text: Buffer): Buffer =>
  Buffer.from(text.toString("latin1").replaceAll("\n", "\r\n"), "latin1");

function endsWithCrlf(text: Buffer): boolean {
  let any = false;
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) {
    if (text[at - 1] !== 13) return false;
    any = true;
  }
  return any;
}
