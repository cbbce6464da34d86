// The room of empty arguments: elsewhere an empty text means no arguments, here it is a text that is not JSON.
//
// This applies only to providers that send arguments as text. A provider that sends objects wrote no text, so an empty one
// there means no arguments.

import type { Part } from "../../message.ts";
import { isAnswerLike, type Model, modelFace } from "../../model.ts";

const sendsObjects = /^(?:anthropic|bedrock|google|ollama|ai-sdk)/;

/** The same model; calls whose arguments are an empty text are marked as unreadable. */
export function emptyAsWritten(model: Model): Model {
  if (sendsObjects.test(model.origin.api)) return model;
  return {
    ...modelFace(model),
    async call(request, io) {
      const message = await model.call(request, io);
      if (!isAnswerLike(message) || !message.content.some(isEmpty)) return message;
      const argsError = "the arguments are an empty text";
      const content = message.content.map((part) => (isEmpty(part) ? { ...part, argsError } : part));
      return { ...message, content };
    },
  };
}

const isEmpty = (part: Part): boolean =>
  part.type === "tool_call" && part.rawArgs === "" && part.argsError === undefined;
