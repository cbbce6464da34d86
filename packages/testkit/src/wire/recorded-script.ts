// The room of recorded scripts: what a run's model answered, as a script that any provider's protocol can play.
//
// A journal holds answers and not bytes, so what was recorded of one provider plays over another's protocol. What only
// its own provider understands (signatures, ids of items) is left out; rondo-wire makes up its own.

import type { AssistantMessage, Json, JsonObject, LogRecord, Part, Stop } from "@rondo/core";
import { type Recording, recordsOf, withEach } from "../cassette/tape.ts";

/**
 * The turns of a recording, in the order in which they were answered, as JSON for a script file.
 * @param recording a session's records, or a file of them
 * @throws RondoError `invalid_request` naming the line, or the record, that cannot be read
 */
export function recordedScript(recording: Recording): Json[] {
  const turns: Json[] = [];
  withEach(recordsOf(recording), (record) => {
    const turn = turnOf(record);
    if (turn !== undefined) turns.push(turn);
  });
  return turns;
}

function turnOf(record: LogRecord): Json[] | undefined {
  switch (record.type) {
    case "model_finished":
    case "summary_finished":
      return answered(record.message);
    case "model_failed":
    case "summary_failed": {
      const { error, partial } = record;
      const { kind, message, retryAfterMs, status } = error;
      // It was this side that gave it up: nothing of that came over a wire.
      if (kind === "aborted") return undefined;
      return [
        ...(partial === undefined ? [] : partial.content.flatMap(wordOf)),
        {
          fail: kind,
          message,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          ...(status === undefined ? {} : { status }),
        },
      ];
    }
    default:
      return undefined;
  }
}

function answered({ content, stop, usage }: AssistantMessage): Json[] {
  const words = content.flatMap(wordOf);
  const holds = (type: Part["type"]): boolean => content.some((part) => part.type === type);
  const byContent = holds("tool_call") ? "tool_use" : holds("refusal") ? "refusal" : "end_turn";
  return [
    ...(words.length === 0 ? [{ empty: true }] : words),
    ...(usage === undefined ? [] : [{ usage: { ...usage } as JsonObject }]),
    ...(stop.kind === byContent ? [] : [stopWord(stop)]),
  ];
}

/** How an answer ended. A provider's own word is nothing to another, unless there is none for what it says. */
function stopWord({ kind, raw, detail }: Stop): JsonObject {
  return {
    stop: kind,
    ...(kind === "unknown" && raw !== undefined ? { raw } : {}),
    ...(detail === undefined ? {} : { detail }),
  };
}

function wordOf(part: Part): JsonObject[] {
  switch (part.type) {
    case "text":
      return [{ say: part.text }];
    case "reasoning":
      return [{ think: part.text }];
    case "refusal":
      return [{ refuse: part.text }];
    case "tool_call":
      return part.argsError === undefined
        ? [{ call: part.name, args: part.args, id: part.id }]
        : [{ badArgs: part.name, text: part.rawArgs, id: part.id }];
    default:
      return [];
  }
}
