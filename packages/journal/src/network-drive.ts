// The room of the network drive: warns of a journal on one, where it would be damaged without a word.
//
// SQLite's locks and the memory its processes share do not reach over a network, and the locks of such file systems are not
// reliable: the file may be damaged even if only one machine uses it. Whether it goes well cannot be found out, so it is
// only said.

import { statfsSync } from "node:fs";

/** The file systems by the numbers that Linux gives them (statfs). Other systems tell nothing of use. */
const names: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "SMB"],
  [0xfe534d42, "SMB"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x786f4256, "a shared folder of VirtualBox"],
]);

const warned = new Set<string>();

/** Warns once per place. @param folder where the journal is */
export function warnOfNetwork(place: string, folder: string, warn: (message: string) => void): void {
  const name = nameOf(folder);
  if (name === undefined || warned.has(place)) return;
  warned.add(place);
  warn(
    `the journal ${place} is on a network drive (${name}), whose locks are not reliable: it may be damaged without a word. ` +
      "Keep it on a local disk; for several machines there is @rondo/restate",
  );
}

function nameOf(folder: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return names.get(statfsSync(folder).type);
  } catch {
    // Whatever it is, opening the journal tells it.
    return undefined;
  }
}
