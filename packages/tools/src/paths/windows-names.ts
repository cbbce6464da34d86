// The room of Windows' names: those that Windows takes for something else than the file they seem to name.
//
// What follows a colon is a hidden stream of another file. A dot or space at the end is dropped, so that `.git.` is `.git`.
// A device's name means the device in every folder, whatever extension it has.

import { shown } from "../reasons.ts";

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i;

/**
 * What Windows takes a name in the path for.
 * @param path relative to the root, with `/`
 * @returns undefined: every name is that of a file or folder
 */
export function otherOnWindows(path: string): string | undefined {
  for (const name of path === "." ? [] : path.split("/")) {
    if (name.includes(":")) return `${shown(name)} would be a hidden stream of another file`;
    if (/[. ]$/.test(name)) return `the dot or space at the end of ${shown(name)} would be dropped`;
    if (device.test(name)) return `${shown(name)} is a device`;
  }
  return undefined;
}
