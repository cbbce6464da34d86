// The room of Google's form: a reply as GenerateContent responses, streamed or whole.
//
// Gemini signs the first call of a turn and its thoughts, and wants the signatures back. It never sends arguments that
// are no object: where its model writes such a call, the answer ends with MALFORMED_FUNCTION_CALL and holds none.

import type { JsonObject, StopKind } from "@rondo/core";
import { counts, frame, type Rendered, type Reply, type ReplyBlock, signature, stopWord } from "./reply.ts";

const words: { readonly [K in StopKind]?: string } = {
  end_turn: "STOP",
  tool_use: "STOP",
  stop_sequence: "STOP",
  max_tokens: "MAX_TOKENS",
  refusal: "SAFETY",
  content_filter: "SAFETY",
  malformed_call: "MALFORMED_FUNCTION_CALL",
};

export function renderGoogle(reply: Reply): Rendered {
  const broken = reply.blocks.find((block) => block.type === "call" && block.broken);
  const malformed = broken?.type === "call" && reply.stop.wire !== "max_tokens" ? broken : undefined;
  const word =
    malformed === undefined ? stopWord(reply, words, "google-generative-ai") : "MALFORMED_FUNCTION_CALL";
  const detail =
    malformed === undefined
      ? reply.stop.detail
      : `Malformed function call: call:${malformed.name}${malformed.rawArgs}`;
  const told = counts(reply.usage);
  const rest: JsonObject = {
    usageMetadata: {
      promptTokenCount: told.inputTokens,
      candidatesTokenCount: told.outputTokens - told.reasoningTokens,
      totalTokenCount: told.inputTokens + told.outputTokens,
      ...(reply.usage.reasoningTokens === undefined ? {} : { thoughtsTokenCount: told.reasoningTokens }),
      ...(reply.usage.cachedInputTokens === undefined
        ? {}
        : { cachedContentTokenCount: told.cachedInputTokens }),
    },
    modelVersion: reply.model,
    responseId: `resp-${reply.number}`,
  };
  const answer = (parts: JsonObject[], finish?: JsonObject): JsonObject => ({
    candidates: [
      { ...(parts.length === 0 ? {} : { content: { role: "model", parts } }), ...finish, index: 0 },
    ],
    ...rest,
  });
  const firstCall = reply.blocks.findIndex((block) => block.type === "call" && !block.broken);
  const partsOf = (block: ReplyBlock, index: number, pieces: readonly string[]): JsonObject[] =>
    parts(block, index, pieces, reply, index === firstCall);
  const finish: JsonObject = {
    finishReason: word,
    ...(detail === undefined ? {} : { finishMessage: detail }),
  };
  return {
    head: [],
    blocks: reply.blocks.map((block, index) =>
      partsOf(block, index, piecesOf(block)).map((part) => frame(undefined, answer([part]))),
    ),
    tail: [frame(undefined, answer([], finish))],
    whole: answer(
      reply.blocks.flatMap((block, index) => partsOf(block, index, ["text" in block ? block.text : ""])),
      finish,
    ),
  };
}

/** One part a piece. A thought's signature comes with its last piece. */
function parts(
  block: ReplyBlock,
  index: number,
  pieces: readonly string[],
  reply: Reply,
  signed: boolean,
): JsonObject[] {
  switch (block.type) {
    case "text": {
      const own = block.opaque?.thoughtSignature;
      return withLast(
        pieces.map((text) => ({ text })),
        typeof own === "string" ? { thoughtSignature: own } : {},
      );
    }
    case "refusal":
      return pieces.map((text) => ({ text }));
    case "reasoning": {
      const own = block.opaque?.thoughtSignature;
      return withLast(
        pieces.map((text) => ({ text, thought: true })),
        typeof own === "string" ? { thoughtSignature: own } : {},
      );
    }
    case "call": {
      if (block.broken) return [];
      const own = block.opaque?.thoughtSignature;
      const sign = signed || typeof own === "string";
      return [
        {
          functionCall: {
            ...(block.id === undefined ? {} : { id: block.id }),
            name: block.name,
            args: block.args,
          },
          ...(sign ? { thoughtSignature: signature(reply, index, block.opaque, "thoughtSignature") } : {}),
        },
      ];
    }
    case "native":
      return [block.opaque];
  }
}

/** A signature without a text comes with an empty one. */
function piecesOf(block: ReplyBlock): readonly string[] {
  if (block.type === "call" || block.type === "native") return [""];
  const signed = "opaque" in block && block.opaque?.thoughtSignature !== undefined;
  return signed && block.pieces.length === 0 ? [""] : block.pieces;
}

function withLast(list: JsonObject[], more: JsonObject): JsonObject[] {
  return list.map((one, at) => (at === list.length - 1 ? { ...one, ...more } : one));
}
