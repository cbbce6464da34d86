// The room of warnings: what a request asked for and its provider lacks, told while the request is made.

import type { WireRequest } from "../codec.ts";

/** Tells what was left out or sent otherwise: a code, and words for people. */
export type Warn = (code: string, message: string) => void;

/** What a request is warned of, by what is told: pieces tell theirs at every request, and several may tell the same. */
export type Told = Map<string, WireRequest["warnings"][number]>;

/** Tells each thing once. */
export const warnOnce =
  (told: Told): Warn =>
  (code, message) =>
    void told.set(`${code} ${message}`, { code, message });
