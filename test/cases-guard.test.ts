// The guard of a play: standing still is held against it, having much to do is not.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Guard } from "../scripts/cases/guard.ts";

describe("a play under guard", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** What became of a play that shows a sign of life every so many milliseconds, so many times. */
  async function told(everyMs: number, times: number): Promise<string> {
    const guard = new Guard();
    let said = "nothing";
    guard.stuck.catch((thrown: Error) => {
      said = thrown.message;
    });
    for (let at = 0; at < times; at++) {
      await vi.advanceTimersByTimeAsync(everyMs);
      guard.sign();
    }
    guard.stop();
    return said;
  }

  it("may take long, as long as it gets further", async () => {
    expect(await told(50_000, 6)).toBe("nothing");
  });

  it("is given up a minute after its last sign of life", async () => {
    expect(await told(61_000, 1)).toBe("it did not come to rest within 60 s of real time");
  });

  it("is given up after ten minutes, however much it asks for", async () => {
    expect(await told(1_000, 601)).toMatch(/within (59\d|600) s of real time/);
  });
});
