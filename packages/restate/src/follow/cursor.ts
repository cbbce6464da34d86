// The room of the cursor: how far somebody has followed a session, in a text that they keep.

export interface Cursor {
  /** The record that comes next. */
  seq: number;
  /** The last entry of each worker's memory. */
  hubs: Map<string, string>;
}

export function cursorOf(text: string | undefined, from: number): Cursor {
  const [seq, ...hubs] = (text ?? "").split(";");
  const known = Number(seq);
  return {
    seq: text !== undefined && Number.isSafeInteger(known) && known >= 0 ? known : from,
    hubs: new Map(hubs.map((id) => [hubOf(id), id])),
  };
}

export const textOf = ({ seq, hubs }: Cursor): string => [seq, ...hubs.values()].join(";");

/** Whose memory an entry is of. */
export const hubOf = (id: string): string => id.split(":")[0] ?? "";
