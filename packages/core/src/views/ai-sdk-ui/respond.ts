// The room of the response: a request of `useChat` is answered with a stream of chunks, as server-sent events.

import { toRondoError } from "../../errors.ts";
import type { Listener } from "../../events.ts";
import type { Json } from "../../message.ts";
import type { RunResult } from "../../result.ts";
import type { Session } from "../../session.ts";
import { kindOf, type UiChunksOptions, uiChunks } from "./chunks.ts";
import type { Posted, UiChunk } from "./shapes.ts";
import { checkPosted, isRewrite, type TurnOptions, takeChecked } from "./turn.ts";

export interface UiResponseOptions<Output> extends TurnOptions, Omit<UiChunksOptions, "pending"> {
  /** The request's signal. When it fires, the page has left. So it has when the response's body is cancelled. */
  signal?: AbortSignal;
  /** The run goes on when the page leaves or its user presses stop. Default: false, it is aborted. */
  outlivesPage?: boolean;
  /** What the page gets as the message's `metadata`: the usage, say. Default: nothing. */
  metadata?: (result: RunResult<Output>) => Json;
}

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
  "x-vercel-ai-ui-message-stream": "v1",
};

/**
 * Answers a request of `useChat`: does what was posted (`takeTurn`), and streams what happens. Check before that the session is
 * this user's: its id comes from the page.
 */
export function uiResponse<Output>(
  session: Session<Output>,
  posted: Posted,
  options: UiResponseOptions<Output> = {},
): Response {
  const { signal, outlivesPage = false, metadata, errorText = kindOf } = options;
  let isOpen = true;
  const end = (): void => {
    if (!outlivesPage && session.status === "running") session.abort("the page was left");
  };
  const leave = (): void => {
    isOpen = false;
    end();
  };
  const body = new ReadableStream<string>({
    async start(controller) {
      const send = (data: string): void => {
        if (isOpen) controller.enqueue(`data: ${data}\n\n`);
      };
      const write = (chunk: UiChunk): void => send(JSON.stringify(chunk));
      let stop = (): void => {};
      signal?.addEventListener("abort", leave, { once: true });
      write({ type: "start" });
      try {
        signal?.throwIfAborted();
        checkPosted(posted);
        const hear = listener(session, posted, options, write);
        stop = session.subscribe((event) => {
          // It waited for another run to end when the page left.
          if (!isOpen && event.type === "run_start") end();
          hear(event);
        });
        const result = await takeChecked(session, posted, options);
        const more = result !== undefined && metadata !== undefined;
        write({ type: "finish", ...(more ? { messageMetadata: metadata(result) } : {}) });
      } catch (thrown) {
        write({ type: "error", errorText: errorText(toRondoError(thrown)) });
      } finally {
        stop();
        signal?.removeEventListener("abort", leave);
      }
      send("[DONE]");
      if (isOpen) controller.close();
    },
    cancel: leave,
  });
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers });
}

/** Hears what belongs to the message that the page shows next. */
function listener<Output>(
  { pending }: Session<Output>,
  posted: Posted,
  options: UiChunksOptions,
  write: (chunk: UiChunk) => void,
): Listener {
  const last = posted.messages.at(-1);
  // A message of the user's begins a new one of the assistant's: calls that waited are shown further up.
  const isNew = last?.role === "user";
  const above = new Set(isNew ? pending.map(({ id }) => id) : []);
  const hear = uiChunks(write, { ...options, pending: isNew ? [] : pending });
  let hasBegun = !isRewrite(posted);
  return (event) => {
    hasBegun ||= event.type === "run_start";
    const isAbove = "call" in event && above.has(event.call.id);
    // The page has its own message already.
    const isOwn = event.type === "message_delivered" && event.id === last?.id;
    if (hasBegun && !isAbove && !isOwn) hear(event);
  };
}
