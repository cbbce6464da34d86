// The room of the response: a request of `useChat` is answered with a stream of chunks, as server-sent events.

import { toRondoError } from "../../errors.ts";
import type { Listener, RondoEvent } from "../../events.ts";
import type { Json } from "../../message.ts";
import type { RunResult } from "../../result.ts";
import type { Session } from "../../session.ts";
import { chunksAfter, kindOf, type UiChunksOptions, uiChunks } from "./chunks.ts";
import { answerId, uiMessages } from "./messages.ts";
import { chunksOf } from "./replayed.ts";
import type { Posted, UiChunk } from "./shapes.ts";
import { checkPosted, isRewrite, type TurnOptions, takeChecked } from "./turn.ts";

/** What both kinds of responses may be given. */
interface ResponseOptions<Output> extends Pick<UiChunksOptions, "errorText" | "clientTools"> {
  /** The request's signal. When it fires, the page has left. So it has when the response's body is cancelled. */
  signal?: AbortSignal;
  /** What the page gets as the message's `metadata`: the usage, say. Default: nothing. */
  metadata?: (result: RunResult<Output>) => Json;
}

export interface UiResumeOptions<Output> extends ResponseOptions<Output> {
  /** The last message is sent also if the run has ended or parked meanwhile: for pages that ask only because one was active when they were loaded. Default: false. */
  afterEnd?: boolean;
}

export interface UiResponseOptions<Output>
  extends TurnOptions,
    ResponseOptions<Output>,
    Pick<UiChunksOptions, "version"> {
  /** The run goes on when the page leaves or its user presses stop. Default: false, it is aborted. */
  outlivesPage?: boolean;
}

/**
 * Answers a request of `useChat`: does what was posted (`takeTurn`), and streams what happens. Check before that the session is
 * this user's: its id comes from the page.
 */
export function uiResponse<Output>(
  session: Session<Output>,
  posted: Posted,
  options: UiResponseOptions<Output> = {},
): Response {
  let isThere = true;
  let messageId: string | undefined;
  const end = (): void => {
    if (options.outlivesPage !== true && session.status === "running") session.abort("the page was left");
  };
  return responseOf(options, {
    messageId: () => messageId,
    async act(write) {
      checkPosted(posted);
      const hear = listener(session, posted, options, write);
      const stop = session.subscribe((event) => {
        // It waited for another run to end when the page left.
        if (!isThere && event.type === "run_start") end();
        if (isNewIn(event, posted)) messageId = answerId(session.state.said);
        hear(event);
      });
      return takeChecked(session, posted, options).finally(stop);
    },
    leave() {
      isThere = false;
      end();
    },
  });
}

/**
 * Answers a page that was loaded again, or has lost its connection (`resumeStream` of AI SDK 7): what it shows of the last message
 * according to the session, and then what happens, until the run ends or parks. An interrupted run is resumed. If none is active, the
 * response is a 204. That the page leaves does not stop the run.
 */
export function uiResume<Output>(session: Session<Output>, options: UiResumeOptions<Output> = {}): Response {
  const last = uiMessages(session, options).at(-1);
  const parts = last?.role === "assistant" ? last.parts : [];
  const isActive = session.status === "running" || session.status === "interrupted";
  if (!isActive && (options.afterEnd !== true || parts.length === 0))
    return new Response(null, { status: 204 });
  let stop = (): void => {};
  return responseOf(options, {
    messageId: () => answerId(session.state.said),
    async act(write) {
      for (const chunk of chunksOf(parts)) write(chunk);
      if (!isActive) return session.result;
      const hear = chunksAfter(parts, write, { ...options, pending: session.pending });
      for (const event of session.arriving) hear(event);
      stop = session.subscribe(hear);
      return session.resume().finally(stop);
    },
    leave: () => stop(),
  });
}

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
  "x-vercel-ai-ui-message-stream": "v1",
};

/** What a response streams. */
interface Streamed<Output> {
  /** The id of the message, asked for when its first chunk is written. Undefined: the page's own. */
  messageId(): string | undefined;
  /** Writes the chunks, and resolves when there are no more. */
  act(write: (chunk: UiChunk) => void): Promise<RunResult<Output> | undefined>;
  /** The page has left. */
  leave(): void;
}

function responseOf<Output>(
  { signal, metadata, errorText = kindOf }: ResponseOptions<Output>,
  { messageId, act, leave }: Streamed<Output>,
): Response {
  let isOpen = true;
  let hasStarted = false;
  const left = (): void => {
    isOpen = false;
    leave();
  };
  const body = new ReadableStream<string>({
    async start(controller) {
      const send = (data: string): void => {
        if (isOpen) controller.enqueue(`data: ${data}\n\n`);
      };
      const write = (chunk: UiChunk): void => {
        if (!hasStarted) {
          hasStarted = true;
          const id = messageId();
          send(JSON.stringify({ type: "start", ...(id === undefined ? {} : { messageId: id }) }));
        }
        send(JSON.stringify(chunk));
      };
      // Many servers send a response's head with the first of its body, and proxies wait for it: a comment, which a page passes over.
      controller.enqueue(":\n\n");
      signal?.addEventListener("abort", left, { once: true });
      try {
        signal?.throwIfAborted();
        const result = await act(write);
        const more = result !== undefined && metadata !== undefined;
        write({ type: "finish", ...(more ? { messageMetadata: metadata(result) } : {}) });
      } catch (thrown) {
        write({ type: "error", errorText: errorText(toRondoError(thrown)) });
      } finally {
        signal?.removeEventListener("abort", left);
      }
      send("[DONE]");
      if (isOpen) controller.close();
    },
    cancel: left,
  });
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers });
}

/** Whether what was posted enters the conversation with this event: what comes after it is a message of its own. */
function isNewIn(event: RondoEvent, { messages }: Posted): boolean {
  const last = messages.at(-1);
  if (last?.role !== "user") return false;
  if (event.type === "run_start") return event.input.length > 0;
  return event.type === "message_delivered" && event.id === last.id;
}

const beginnings: ReadonlySet<RondoEvent["type"]> = new Set<RondoEvent["type"]>([
  "run_start",
  "approval_request",
  "answer_request",
]);

/** Hears what belongs to the message that the page shows next. */
function listener<Output>(
  { pending, status }: Session<Output>,
  posted: Posted,
  options: UiChunksOptions,
  write: (chunk: UiChunk) => void,
): Listener {
  const last = posted.messages.at(-1);
  // A message of the user's begins a new one of the assistant's: calls that waited are shown further up.
  const isNew = last?.role === "user";
  const above = new Set(isNew ? pending.map(({ id }) => id) : []);
  const hear = uiChunks(write, { ...options, pending: isNew ? [] : pending });
  // What the active run does before it reads the message is shown further up as well, unless it asks for something.
  let hasBegun = !isRewrite(posted) && !(isNew && status === "running");
  return (event) => {
    hasBegun ||= beginnings.has(event.type) || isNewIn(event, posted);
    const isAbove = "call" in event && above.has(event.call.id);
    // The page has its own message already.
    const isOwn = event.type === "message_delivered" && event.id === last?.id;
    if (hasBegun && !isAbove && !isOwn) hear(event);
  };
}
