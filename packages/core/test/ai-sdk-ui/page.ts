// The room of the page: the AI SDK's own client, and a server for it as the guide has it.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { Agent, type AgentOptions, memoryJournal, type Session, type Tool } from "@rondo/core";
import { type Posted, uiMessages, uiResponse, uiResume } from "@rondo/core/ai-sdk-ui";
import { type Script, scripted } from "@rondo/testkit";
import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  isToolUIPart,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { quick } from "../support.ts";

/** What `useChat` keeps in React's state. */
class PageState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[];

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UIMessage): void => void this.messages.push(message);
  popMessage = (): void => void this.messages.pop();
  replaceMessage = (index: number, message: UIMessage): void => void this.messages.splice(index, 1, message);
  snapshot = <T>(value: T): T => structuredClone(value);
}

export class Page extends AbstractChat<UIMessage> {
  constructor(api: string, id = "chat", messages: UIMessage[] = []) {
    super({ id, transport: new DefaultChatTransport({ api }), state: new PageState(messages) });
  }

  /** The last message in short. */
  get shown(): string[] {
    return (this.messages.at(-1)?.parts ?? []).map((one) => {
      if (isToolUIPart(one)) return `${one.type} ${one.state}`;
      if (one.type === "text" || one.type === "reasoning") return `${one.type}: ${one.text}`;
      return one.type;
    });
  }
}

/** The page as it is when it is loaded again. */
export const loadedAgain = async (api: string, session: Session): Promise<Page> =>
  new Page(api, session.id, await validateUIMessages({ messages: uiMessages(session) as UIMessage[] }));

const open: Server[] = [];

/** Closes what was served. */
export function closeServers(): void {
  for (const server of open.splice(0)) server.close();
}

export interface Served {
  agent: Agent;
  api: string;
  /** Lets go of all sessions, as a process does that dies. */
  forget(): void;
  /** Breaks all connections. */
  lose(): void;
  /** Resolves when a page that was loaded again watches a run. */
  watched(): Promise<void>;
  session(): Promise<Session>;
  /** How runs of the chat have ended. */
  ends(): string[];
}

/** Serves an agent's sessions to pages, as the guide does. If runs outlive their pages, the sessions are kept open. */
export async function serve(
  turns: Script,
  tools: readonly Tool[] = [],
  options: Partial<AgentOptions> & Parameters<typeof uiResponse>[2] & { afterEnd?: boolean } = {},
): Promise<Served> {
  const { clientTools, metadata, errorText, version, outlivesPage, afterEnd = false, ...more } = options;
  const journal = memoryJournal();
  const agent = new Agent({
    model: scripted(turns, { usage: { inputTokens: 7, outputTokens: 2 } }),
    tools: [...tools],
    journal,
    ...quick,
    ...more,
  });
  const response = { clientTools, metadata, errorText, version, outlivesPage };
  const given = Object.fromEntries(Object.entries(response).filter(([, value]) => value !== undefined));
  const watching = Promise.withResolvers<void>();
  const kept = new Map<string, Promise<Session>>();
  const sessionOf = (id: string): Promise<Session> => {
    const session = kept.get(id) ?? agent.open(id);
    if (outlivesPage === true) kept.set(id, session);
    return session;
  };
  const respond = async (request: IncomingMessage): Promise<Response> => {
    const [, id] = /^\/chat\/(.+)\/stream$/.exec(request.url ?? "") ?? [];
    if (id !== undefined) {
      const session = await sessionOf(id);
      watching.resolve();
      return uiResume(session, { ...given, afterEnd });
    }
    const posted = JSON.parse(await new Response(Readable.toWeb(request) as never).text()) as Posted;
    return uiResponse(await sessionOf(posted.id), posted, given);
  };
  const server = createServer(async (request, answer) => {
    const { status, headers, body } = await respond(request);
    answer.writeHead(status, Object.fromEntries(headers));
    if (body === null) return void answer.end();
    await pipeline(Readable.fromWeb(body as unknown as NodeStream), answer).catch(() => {});
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    agent,
    api: `http://127.0.0.1:${port}/chat`,
    forget: () => kept.clear(),
    lose: () => server.closeAllConnections(),
    watched: () => watching.promise,
    session: () => sessionOf("chat"),
    ends: () =>
      journal.read("chat").flatMap((record) => (record.type === "run_ended" ? [record.end.reason] : [])),
  };
}
