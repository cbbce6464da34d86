// The room of oracles: what the providers' own clients make of the same bytes.
//
// A client is asked as its users ask it, over a `fetch` or a server that answers with the recording. Nothing of ours
// reads along. Where a client only hands out chunks, they are added up here in the plainest way.

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
