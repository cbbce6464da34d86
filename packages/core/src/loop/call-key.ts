// The room of the call key: a call's unique name in its session.

/** A call's key: the `seq` of its answer, and its position there. Providers' ids may repeat; keys do not. */
export type CallKey = `${number}.${number}`;

/** The `seq` of a call's answer. */
export const seqIn = (key: CallKey): number => Number(key.split(".")[0]);

/** The position of a call in its answer, from 0. */
export const placeIn = (key: CallKey): number => Number(key.split(".")[1]);
