// The room of checking whole texts in files: each file is named by the digest of its content.
//
// A missing file is no damage: texts may be deleted, or kept elsewhere, and the records do not say which. A file that
// exists must match its name.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blobRef, messageOf } from "@rondo/core";
import { homeOf, textSuffix, textsFolder } from "../file-blobs.ts";
import { isMissing } from "../system-says.ts";
import type { Finding } from "./report.ts";

/**
 * Checks the text files next to a folder's sessions, and adds up their bytes.
 * @param sessions those that were checked
 * @param all whether to check the texts of other sessions too
 */
export function checkTextFiles(
  folder: string,
  sessions: readonly string[],
  all: boolean,
): { findings: Finding[]; bytes: number } {
  const owners = new Map(sessions.map((session) => [homeOf(session), session]));
  const findings: Finding[] = [];
  let bytes = 0;
  for (const home of all ? namesIn(join(folder, textsFolder)) : owners.keys())
    for (const name of namesIn(join(folder, textsFolder, home))) {
      if (!name.endsWith(textSuffix)) continue;
      const said = wrongWith(join(folder, textsFolder, home, name), name.slice(0, -textSuffix.length));
      bytes += said.bytes;
      if (said.why === undefined) continue;
      const session = owners.get(home);
      const message = `${join(textsFolder, home, name)}: ${said.why}`;
      findings.push({
        what: "damage",
        message,
        repaired: false,
        ...(session === undefined ? {} : { session }),
      });
    }
  return { findings, bytes };
}

function wrongWith(place: string, ref: string): { bytes: number; why?: string } {
  try {
    const text = readFileSync(place);
    const isWhole = blobRef(text.toString("utf8")) === ref;
    return {
      bytes: text.length,
      ...(isWhole ? {} : { why: "it is not the whole text that its name says; restore a copy of it" }),
    };
  } catch (thrown) {
    // It may have been deleted meanwhile.
    return { bytes: 0, ...(isMissing(thrown) ? {} : { why: messageOf(thrown) }) };
  }
}

/** The names in a folder; none when it does not exist. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (isMissing(thrown) || code === "ENOTDIR") return [];
    throw thrown;
  }
}
