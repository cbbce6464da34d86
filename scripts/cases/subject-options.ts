// The room of the subject: the agent that a case describes, with the parts of the stage it uses.
//
// Nothing here knows what is expected, except for the names of tools that answers call when a case declares none, and whether
// credentials can be had anew, which a case tells only by what comes of a refusal.

import { Agent, type AgentOptions, type Journal, type Logger, subAgent, type Tool } from "@rondo/core";
import type { Case } from "./format.ts";
import { mappedOptions } from "./given.ts";
import { failingClient, type ModelsAtWork } from "./models-at-work.ts";
import { modelFor } from "./providers.ts";
import type { Script } from "./script.ts";
import { type Folder, toolsOf, type Workload } from "./tools.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { type Tap, tapped, type WireServer } from "./wire-server.ts";

/** The parts of the stage an agent uses. */
export interface Place {
  baseURL: string;
  script: Script;
  server: WireServer;
  tap: Tap;
  models: ModelsAtWork;
  folder: Folder;
  clock: VirtualClock;
  load: Workload;
  journal: Journal;
  abort(reason: string): void;
  log(line: string): void;
}

/** The options of the agent that plays a case. */
export function optionsOf(one: Case, place: Place): AgentOptions {
  const { given = {}, provider, expect } = one;
  const { script, server, models, clock } = place;
  const { agent, facts, compat, prompted, whole, maxDepth, aborted } = mappedOptions(given);
  if (aborted === true) place.abort("the case aborts");
  const model = modelFor({
    provider,
    model: given.model,
    baseURL: place.baseURL,
    http: tapped(failingClient(script, server), place.tap),
    apiKey: given.api_key ?? (isKeyRefused(one) ? "case-key" : undefined),
    facts,
    compat,
    prompted,
    ...(whole === true ? { stream: false } : {}),
  });
  const logger = loggerTo(place.log);
  const spawn = (): Tool =>
    subAgent({
      name: "spawn_agent",
      description: "Starts an agent for a task",
      agent: () => new Agent({ ...agent, model: models.queued(model), logger }),
      ...(maxDepth === undefined ? {} : { maxDepth }),
    });
  agent.tools = toolsOf(given, expect.tool_calls ?? [], place.folder.path, clock, place.load, spawn);
  return { ...agent, model: models.watched(model), clock, journal: place.journal, logger };
}

/** Whether the run ends because its credentials are refused: then there are no others. */
const isKeyRefused = ({ expect, turns = [] }: Case): boolean =>
  [expect, ...turns.map((turn) => turn.expect)].some(
    (wanted) => wanted?.error_kind === "auth" && wanted.loop_outcome === "fail",
  );

function loggerTo(say: (line: string) => void): Logger {
  const log = (message: string, fields?: object): void => say(`${message} ${JSON.stringify(fields ?? {})}`);
  return { debug: log, info: log, warn: log, error: log };
}
