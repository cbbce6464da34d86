// The conformance suite of models over the text protocol: what is to be answered is written as its texts.

import { type Model, modelFace } from "@rondo/core";
import { type Act, say, scripted, type Turn, testModel } from "@rondo/testkit";
import { describe, test } from "vitest";
import { promptedJson } from "../../src/index.ts";

type Write = (said: string, calls: readonly Extract<Act, { act: "call" }>["call"][]) => string;

const inputOf = ({
  rawArgs,
  argsError,
  args,
}: {
  rawArgs: string;
  argsError?: string;
  args: object;
}): unknown => (argsError === undefined ? args : rawArgs);

/** The protocol's own form. */
const envelope: Write = (said, calls) =>
  calls.length === 0
    ? JSON.stringify({ response: said })
    : calls
        .map((call, at) =>
          JSON.stringify({
            ...(at === 0 && said !== "" ? { thought: said } : {}),
            tool_call: { name: call.name, input: inputOf(call) },
          }),
        )
        .join("\n");

/** Prose, and Qwen's tags below it. */
const tags: Write = (said, calls) =>
  calls.length === 0
    ? envelope(said, calls)
    : [
        said,
        ...calls.map(
          (call) =>
            `<tool_call>\n${JSON.stringify({ name: call.name, arguments: inputOf(call) })}\n</tool_call>`,
        ),
      ]
        .filter((text) => text !== "")
        .join("\n");

const flat = (turn: Turn): Act[] => ("act" in turn ? [turn] : (turn as readonly Turn[]).flatMap(flat));

/** A turn whose text and calls are one text; what else happens in it happens as it did. */
function written(turn: Turn, write: Write): Turn {
  const acts = flat(turn);
  const isSaid = (act: Act): boolean =>
    act.act === "call" || (act.act === "part" && act.part.type === "text");
  const first = acts.findIndex(isSaid);
  if (first === -1) return turn;
  const said = acts
    .map((act) => (act.act === "part" && act.part.type === "text" ? act.part.text : ""))
    .join("");
  const calls = acts.flatMap((act) => (act.act === "call" ? [act.call] : []));
  const text = say(write(said, calls), { chunk: 3 });
  return acts.flatMap((act, at) => (at === first ? [text] : isSaid(act) ? [] : [act]));
}

describe("a model that is given its tools as text", () => {
  // By its letter the strict protocol has one call an answer, its own system prompt, and no limit: it is left out.
  for (const [name, write] of [
    ["the envelope", envelope],
    ["tags below prose", tags],
  ] as const)
    testModel(
      {
        name,
        open(script) {
          const inner = scripted(script.map((turn) => written(turn, write)));
          const sent: string[] = [];
          const listening: Model = {
            ...modelFace(inner),
            call(request, io) {
              if (!io.signal.aborted)
                sent.push(JSON.stringify({ ...request, messages: [...request.messages] }));
              return inner.call(request, io);
            },
          };
          return { model: promptedJson(listening), sent: () => sent };
        },
      },
      test,
    );
});
