// The exports of @rondo/core/ai-sdk-ui: a session behind the AI SDK's `useChat`. Nothing of the AI SDK is imported.

export { type UiChunksOptions, uiChunks } from "./views/ai-sdk-ui/chunks.ts";
export { uiMessages } from "./views/ai-sdk-ui/messages.ts";
export {
  type UiResponseOptions,
  type UiResumeOptions,
  uiResponse,
  uiResume,
} from "./views/ai-sdk-ui/respond.ts";
export type { Posted, PostedMessage, UiChunk, UiMessage, UiPart } from "./views/ai-sdk-ui/shapes.ts";
export { type TurnOptions, takeTurn } from "./views/ai-sdk-ui/turn.ts";
