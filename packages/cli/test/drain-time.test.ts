import { expect, it } from "vitest";
import { drainMs } from "../src/runs/conduct.ts";

it.each([
  [undefined, 8_000],
  ["50", 50],
  ["0", 0],
  ["", 8_000],
  [" ", 8_000],
  ["soon", 8_000],
  ["-1", 8_000],
])("with RONDO_DRAIN_MS as %j what is under way has %d ms once the process is to leave", (given, ms) => {
  expect(drainMs({ env: given === undefined ? {} : { RONDO_DRAIN_MS: given } })).toBe(ms);
});
