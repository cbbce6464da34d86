// The room of refusals that count for nothing: where no rule hears of them, what they say is a text like any other.

import { isAnswerLike, type Model, modelFace } from "../model.ts";

/** The model, whose refusals are texts: an answer of nothing else would have no words. */
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
