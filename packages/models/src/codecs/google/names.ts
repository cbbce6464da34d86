// The room of names as Google allows them.
//
// What does not fit is cleaned and gets a hash, so that different tools stay different and the same name is the same bytes
// in every request; what the model writes finds back to the tool by the table of what was changed.

import { hash } from "../anthropic/names.ts";

const fits = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;
const changed = new Map<string, string>();

/** A tool's name as it goes out: itself where it fits. */
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
