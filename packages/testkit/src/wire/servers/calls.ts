// The room of calls in a compatible server's stream: numbered or not, in pieces or whole, with ids or without.

import type { Json, JsonObject } from "@rondo/core";
import type { Reply, ReplyBlock } from "../reply.ts";
import type { ServerStyle } from "./personality.ts";
import { pieces } from "./pieces.ts";

type CallBlock = Extract<ReplyBlock, { type: "call" }>;

/** The deltas of one call. Where fragments of all calls interleave, they all come with the last. */
export function callDeltas(
  style: ServerStyle,
  reply: Reply,
  calls: readonly CallBlock[],
  at: number,
): JsonObject[] {
  const call = calls[at];
  if (call === undefined) return [];
  const head = headOf(style, reply, call, at);
  const place = placeOf(style, at);
  const name = call.name + (style.nameTail ?? "");
  const cut = call.pieces.length > 1 ? call.pieces : pieces(call.rawArgs);
  switch (style.calls ?? "fragments") {
    case "whole":
      return [delta(head, { name, arguments: argumentsOf(style, call) })];
    case "repeating":
      return cut.map((piece) => delta(head, { name, arguments: piece }));
    case "emptying":
      return cut.map((piece, nth) =>
        nth === 0
          ? delta(head, { name, arguments: piece })
          : delta({ ...head, id: "" }, { name: "", arguments: piece }),
      );
    case "interleaved":
      return at === calls.length - 1 ? interleaved(style, reply, calls) : [];
    case "arguments_first":
      return [delta(place, { arguments: call.rawArgs }), delta(head, { name })];
    case "fragments":
      return [
        delta(head, { name, arguments: "" }),
        ...cut.map((piece) => delta(place, { arguments: piece })),
      ];
  }
}

/** The calls of an answer that comes at once. */
export function callsWhole(style: ServerStyle, reply: Reply, calls: readonly CallBlock[]): JsonObject[] {
  return calls.map((call, at) => ({
    ...headOf(style, reply, call, at),
    function: { name: call.name + (style.nameTail ?? ""), arguments: argumentsOf(style, call) },
  }));
}

function interleaved(style: ServerStyle, reply: Reply, calls: readonly CallBlock[]): JsonObject[] {
  const cuts = calls.map(({ rawArgs }) => pieces(rawArgs));
  const most = Math.max(...cuts.map(({ length }) => length));
  return [
    ...calls.map((call, at) =>
      delta(headOf(style, reply, call, at), { name: call.name + (style.nameTail ?? ""), arguments: "" }),
    ),
    ...Array.from({ length: most }, (_, nth) =>
      cuts.flatMap((cut, at) =>
        cut[nth] === undefined ? [] : [delta(placeOf(style, at), { arguments: cut[nth] })],
      ),
    ).flat(),
  ];
}

function delta(head: JsonObject, fn: JsonObject): JsonObject {
  return { content: null, tool_calls: [{ ...head, function: fn }] };
}

function argumentsOf(style: ServerStyle, call: CallBlock): Json {
  return style.objectArgs === true && !call.broken ? call.args : call.rawArgs;
}

function placeOf({ index = "numbered" }: ServerStyle, at: number): JsonObject {
  const place = { numbered: at, none: undefined, all_zero: 0, from_one: at + 1 }[index];
  return place === undefined ? {} : { index: place };
}

function headOf(style: ServerStyle, reply: Reply, call: CallBlock, at: number): JsonObject {
  const id = {
    own: call.id ?? `call_${reply.number}_${at}`,
    none: undefined,
    empty: "",
    same: "call_0",
    mistral9: `Mi${reply.number}x${at}`.padEnd(9, "0"),
  }[style.ids ?? "own"];
  return {
    ...placeOf(style, at),
    ...(id === undefined ? {} : { id }),
    ...(style.noType === true ? {} : { type: "function" }),
  };
}
