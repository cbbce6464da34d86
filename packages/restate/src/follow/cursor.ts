// The room of the cursor: how far somebody has followed a session, as a text to keep.

export interface Cursor {
  /** Seq of the next record. */
  seq: number;
  /** The last entry seen of each hub. */
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

/** The hub of an entry. */
export const hubOf = (id: string): string => id.split(":")[0] ?? "";
