// The room of refusals as text: if the rule `refusals` is off, a refusal is text like any other.

import { isAnswerLike, type Model, modelFace } from "../model.ts";

/** The model, with refusals turned into text parts: otherwise an answer that is only a refusal would have no text. */
export function speaking(model: Model): Model {
  return {
    ...modelFace(model),
    async call(request, io) {
      const message = await model.call(request, io);
      if (!isAnswerLike(message) || message.content.every((part) => part.type !== "refusal")) return message;
      const content = message.content.map((part) =>
        part.type === "refusal" ? { type: "text" as const, text: part.text } : part,
      );
      return { ...message, content };
    },
  };
}
