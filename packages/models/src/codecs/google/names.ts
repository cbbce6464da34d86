// The room of names as Google allows them.
//
// A name that does not fit is cleaned and gets a hash, so that different tools stay different and the same name has the
// same bytes in every request; a table of the changed names leads from what the model writes back to the tool.

import { hash } from "../anthropic/names.ts";

const fits = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;
const changed = new Map<string, string>();

/** A tool's name as it is sent: unchanged if it fits. */
export function wireName(name: string): string {
  if (fits.test(name)) return name;
  const clean = name.replaceAll(/[^A-Za-z0-9_.:-]/g, "_").slice(0, 51);
  const wire = `${/^[A-Za-z_]/.test(clean) ? "" : "_"}${clean}_${hash(name).slice(0, 10)}`;
  changed.set(wire, name);
  return wire;
}

/** The tool's own name. */
export function ownName(wire: string): string {
  return changed.get(wire) ?? wire;
}
