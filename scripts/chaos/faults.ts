// The room of faults: what can go wrong with one answer, each with a name that the table counts.
//
// Some replace the answer; others only disturb its transport: the model's answer stays, and the wire does the rest.

import { fail } from "@rondo/testkit";
import {
  chunked,
  contentType,
  corrupt,
  cutAt,
  delayed,
  duplicate,
  frames,
  garbage,
  type Protocol,
  plainJson,
  raw,
  reset,
  slow,
  stallAfter,
  status,
  type WaitForm,
  type WireTurn,
} from "@rondo/testkit/wire";
import type { Chance } from "../chance.ts";

interface Fault {
  /** Replaces the answer. */
  instead?: true;
  of(chance: Chance, protocol: Protocol): WireTurn;
}

const waits = (protocol: Protocol): WaitForm[] => [
  "seconds",
  "ms",
  "date",
  "words",
  "resets",
  "none",
  ...(protocol === "google-generative-ai" ? (["retry_info"] as const) : []),
];

/** A position in an answer: most have between some hundred and some thousand bytes. */
const somewhere = (chance: Chance): number => chance.few(4_000);

const refusing = (code: number): Fault => ({
  instead: true,
  of: (chance, protocol) =>
    status(code, chance.is(0.6) ? { retryAfterMs: wait(chance), form: chance.pick(waits(protocol)) } : {}),
});

/** Usually a moment; sometimes longer than anybody waits. */
const wait = (chance: Chance): number => (chance.is(0.1) ? 90_000 : chance.below(80));

const hows = ["end", "close", "reset"] as const;

export const faults: { readonly [name: string]: Fault } = {
  rate_limit_429: refusing(429),
  server_error_500: refusing(500),
  unavailable_503: refusing(503),
  gateway_timeout_504: refusing(504),
  overloaded_529: refusing(529),
  bad_request_400: refusing(400),
  unauthorised_401: refusing(401),
  too_large_413: refusing(413),
  wrong_json: {
    instead: true,
    of: (chance) => raw(chance.pick(["", "{", "null", "[]", '{"ok":true}', "<html>502 Bad Gateway</html>"])),
  },
  gateway_page_502: {
    instead: true,
    of: () => raw("<html><h1>502 Bad Gateway</h1></html>", { status: 502 }),
  },
  foreign_frames: {
    instead: true,
    of: (chance) =>
      frames(
        chance.many(1 + chance.below(3), () => ({
          event: chance.pick(["", "ping", "surprise"]),
          data: chance.pick([{}, [], null, 7, { type: "surprise" }, { choices: "none" }, { candidates: [] }]),
        })),
      ),
  },
  reset_before: { instead: true, of: () => reset() },
  context_overflow: { instead: true, of: () => fail("context_overflow") },
  stream_error: {
    instead: true,
    of: (chance) => fail(chance.pick(["overloaded", "server_error", "rate_limit"]), { afterText: "I will " }),
  },
  stream_breaks: { instead: true, of: () => fail("network", { afterText: "Let me see. " }) },
  stream_without_end: { instead: true, of: () => fail("stream_truncated", { afterText: "So far: " }) },
  cut_at_byte: { of: (chance) => cutAt(somewhere(chance), chance.pick(hows)) },
  cut_at_frame: { of: (chance) => cutAt({ frames: chance.below(8) }, chance.pick(hows)) },
  stall: { of: (chance) => stallAfter({ frames: chance.below(4) }, { pings: chance.is(0.3) }) },
  slow_body: { of: (chance) => slow(50 + chance.below(200), 1 + chance.below(5)) },
  byte_by_byte: { of: () => chunked("byte") },
  in_one_piece: { of: () => chunked("whole") },
  delayed: { of: (chance) => delayed(chance.below(150)) },
  garbage_frame: { of: (chance) => garbage(undefined, chance.below(4)) },
  doubled_frame: { of: () => duplicate(0) },
  damaged_byte: { of: (chance) => corrupt(somewhere(chance)) },
  wrong_content_type: { of: (chance) => contentType(chance.pick(["text/html", "application/json", ""])) },
  plain_json: { of: () => plainJson() },
};

export const faultNames: readonly string[] = Object.keys(faults);
