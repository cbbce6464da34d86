// The room of the play: one case in one chunking through everything: server, transport, codec, loop.
//
// What cannot be played is reported, never thrown.

import { messageOf } from "@rondo/core";
import { type Case, Unsupported } from "./format.ts";
import { nothingSeen, type Observation } from "./observation.ts";
import { type PlayOptions, Stage } from "./stage.ts";

export type { PlayOptions } from "./stage.ts";

/** Plays a case. What cannot be played is reported in `broke`, never thrown. */
export async function play(one: Case, options: PlayOptions): Promise<Observation> {
  return (await playAndLeave(one, options)).seen;
}

export interface Left {
  seen: Observation;
  timers: number;
  listeners: number;
  /** The working folder of its tools. */
  folder: string;
}

/** The same, with what is left afterwards: timers, and listeners on the user's signal. */
export async function playAndLeave(one: Case, options: PlayOptions): Promise<Left> {
  let stage: Stage | undefined;
  const left = (seen: Observation): Left => ({
    seen,
    timers: stage?.timers ?? 0,
    listeners: stage?.listeners ?? 0,
    folder: stage?.folder ?? "",
  });
  try {
    stage = new Stage(one, options);
    return left(await stage.play());
  } catch (thrown) {
    const broke = thrown instanceof Unsupported ? thrown.message : `the play broke off: ${stackOf(thrown)}`;
    return left({ ...(stage?.observed() ?? nothingSeen()), broke });
  } finally {
    await stage?.strike();
  }
}

const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
