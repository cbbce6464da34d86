// The room of a call's name.

/** A call's key: the sequence number of the answer it stands in, and its position there. Ids of providers repeat; keys do not. */
export type CallKey = `${number}.${number}`;

/** The position of a call in its answer, from 0. */
export const placeIn = (key: CallKey): number => Number(key.split(".")[1]);
