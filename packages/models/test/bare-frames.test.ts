// Frames that hold no JSON object: most are no fault of the stream.

import { describe, expect, it } from "vitest";
import { isEndWord, isSilent } from "../src/codecs/bare-frames.ts";

describe("a frame without an object in it", () => {
  it.each([
    [undefined, ""],
    [undefined, ": keepalive"],
    [undefined, "null"],
    [undefined, "ping"],
    ["ping", "pong"],
    ["keepalive", "keep-alive"],
    ["heartbeat", "2026-01-01T00:00:00Z"],
  ])("is empty: event %s, data %j", (event, data) => {
    expect(isSilent({ event }, data)).toBe(true);
  });

  it.each([
    ["error", "upstream failed"],
    [undefined, "upstream connect error"],
    [undefined, "[DONE]"],
    ["message", "ping"],
  ])("is not empty: event %s, data %j", (event, data) => {
    expect(isSilent({ event }, data)).toBe(false);
  });

  it.each(["[DONE]", "DONE", '"[DONE]"', "[done]"])("may be the end: %s", (data) => {
    expect(isEndWord(data)).toBe(true);
  });

  it.each(["[]", "done for", '["DONE", 1]'])("may not be the end: %s", (data) => {
    expect(isEndWord(data)).toBe(false);
  });
});
