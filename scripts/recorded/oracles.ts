// The room of oracles: reads the same bytes with the providers' own clients.
//
// A client is used as its users use it, with a `fetch` or a server that returns the recording. None of our code
// is involved, except that chunks are combined here, in the simplest way, where a client does not do it.

import type { Protocol, Recording } from "./corpus.ts";
import type { Theirs } from "./said.ts";

export type Oracle = (recording: Recording) => Promise<Theirs>;

/** Clients are loaded when first needed: some take half a second. */
export async function oracleFor(protocol: Protocol): Promise<Oracle> {
  switch (protocol) {
    case "anthropic-messages":
      return (await import("./oracle-anthropic.ts")).anthropicSaid;
    case "openai-chat":
      return (await import("./oracle-openai.ts")).chatSaid;
    case "openai-responses":
      return (await import("./oracle-openai.ts")).responsesSaid;
    case "google-generative-ai":
      return (await import("./oracle-google.ts")).googleSaid;
    case "bedrock-converse":
      return (await import("./oracle-bedrock.ts")).bedrockSaid;
  }
}
