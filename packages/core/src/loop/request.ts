// The room of the request: what the model is sent, a function of the state alone (P7).

import { applyEdit } from "../context/edit.ts";
import { guard } from "../context/guard.ts";
import { prune } from "../context/prune.ts";
import type { Staged, StageNote } from "../context/stage.ts";
import type { Message } from "../message.ts";
import type { MessageList, ModelRequest, Settings, ToolChoice } from "../model.ts";
import { offersOutput, outputWay, toolsWithOutput, type Way } from "../output/ways.ts";
import { objectSchema } from "../output/wrapped.ts";
import type { Rules } from "../rules/rule.ts";
import { Log } from "./log.ts";
import { definitionsOf, offeredTools, waitingTools } from "./offered-tools.ts";
import { besideOf, notesOf } from "./request/notes.ts";
import { knownRefusals, ofParts, without, withoutRefused, withoutSettings } from "./request/omissions.ts";
import { stepSettings } from "./request/step-settings.ts";
import { frontOf, outputThatFits, windowOf } from "./request/window.ts";
import type { OutputOptions, RunOptions } from "./run-options.ts";
import { preparedOf, type RunState, transformedOf } from "./state.ts";

/** The request to send now. @param shape its messages, if they are computed already */
export function requestOf(state: RunState, rules: Rules, shape: Shaped = shaped(state, rules)): ModelRequest {
  const { options } = state;
  const output = askedOutput(state);
  const { messages } = shape;
  const notes = notesOf(state, rules);
  return {
    ...(options.system === undefined ? {} : { system: options.system }),
    // Notes of rules and modes come after the history.
    messages: notes.length === 0 ? messages : Log.of<Message>([...messages, ...notes]),
    ...toolsOf(state, output),
    settings: settingsOf(state, options, rules),
    ...(output?.way.by === "native" ? { outputSchema: objectSchema(output.asked.schema) } : {}),
  };
}

/** The typed output that the request asks for, and how; undefined if it asks for none. */
function askedOutput(state: RunState): { asked: OutputOptions; way: Way } | undefined {
  const { output: asked } = state.options;
  return asked !== undefined && offersOutput(state) ? { asked, way: outputWay(state) } : undefined;
}

/** The tools of the request, and the choice that the model has among them. */
function toolsOf(
  state: RunState,
  output: ReturnType<typeof askedOutput>,
): Pick<ModelRequest, "tools" | "waiting" | "toolChoice"> {
  const { options, run } = state;
  const omits = run.landing !== undefined && options.landing?.omitTools === true;
  const waiting = omits || output?.asked.tools === "none" ? [] : waitingTools(state);
  // The tools stay declared even when they must not be called: their calls are in the history, and the prefix stays the same.
  const tools = toolsWithOutput(omits ? [] : definitionsOf(offeredTools(state)), output?.asked, output?.way, {
    toolless: run.landing !== undefined || run.output !== undefined,
    toolChoice: preparedOf(run)?.toolChoice ?? options.toolChoice,
  });
  const hasBoth = waiting.length > 0 && tools.tools.length > 0;
  return hasBoth ? { ...tools, waiting: definitionsOf(waiting) } : tools;
}

/** The tool choice of the request that is sent now, and until its answer is judged, of the request that it answers. */
export function toolChoiceOf(state: RunState): ToolChoice {
  const { options, run } = state;
  const given = preparedOf(run)?.toolChoice ?? options.toolChoice;
  // Mostly nothing limits it.
  const isFree = given === "auto" && run.landing === undefined && options.output === undefined;
  return isFree ? "auto" : toolsOf(state, askedOutput(state)).toolChoice;
}

function settingsOf(state: RunState, { context }: RunOptions, rules: Rules): Settings {
  const { run } = state;
  const settings = stepSettings(state);
  const asked = run.maxOutputTokens ?? settings.maxOutputTokens;
  const fitting = context?.guard === undefined ? asked : outputThatFits(state, rules, asked);
  const maxOutputTokens = fitting === settings.maxOutputTokens ? undefined : fitting;
  // Reasoning that was not asked for is not sent as `off`: models without reasoning refuse the parameter.
  const off = run.dropped.includes("reasoning") && settings.reasoning !== undefined;
  if (maxOutputTokens === undefined && run.dropped.length === 0) return settings;
  return withoutSettings(run.dropped, {
    ...settings,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(off ? { reasoning: "off" } : {}),
  });
}

/** The messages of the next request, and what was left out of them for this one time. */
export interface Shaped {
  messages: MessageList;
  stages: StageNote[];
  /** What makes them differ from the history, for this request only. */
  by: string[];
  /** Set if they must not be sent: why. */
  overflow?: string;
}

/** The history as it is sent with this request: edited by the hook, pruned, guarded, without what was refused. */
export function shaped(state: RunState, rules: Rules): Shaped {
  const { run } = state;
  const { prune: pruning, guard: guarding } = state.options.context ?? {};
  const edit = transformedOf(run)?.edit;
  const results = guarding?.results === "cut" ? undefined : guarding?.results;
  const dropped = ofParts(run.dropped);
  const refused = knownRefusals(state)?.files;
  if (
    edit === undefined &&
    !pruning &&
    results === undefined &&
    dropped.length === 0 &&
    refused === undefined
  )
    return { messages: state.history, stages: [], by: [] };
  const whole = edit === undefined ? state.history : Log.of(applyEdit(state.history, edit));
  const window = windowOf(state);
  const smaller = prune(whole, pruning ?? null, {
    now: state.now,
    ...(state.touchedAt === undefined ? {} : { lastTouch: state.touchedAt }),
    ...(window === undefined ? {} : { contextWindow: window }),
  });
  // Notes that replace what was taken out can be longer than it. The request was already found to fit.
  const pruned: Pick<Staged, "messages" | "note"> = isSmaller(smaller) ? smaller : { messages: whole };
  const guarded =
    results === undefined || window === undefined
      ? undefined
      : guard(pruned.messages, { results }, { contextWindow: window, beside: besideMessages(state, rules) });
  const { messages: fitting } = guarded ?? pruned;
  const messages = refused === undefined ? fitting : withoutRefused(refused, fitting);
  const stages = [pruned.note, guarded?.note].filter((note) => note !== undefined);
  const hook = edit === undefined ? [] : ["transformContext"];
  const by = [
    ...hook,
    ...stages.map(({ stage }) => stage),
    ...(messages === fitting ? [] : ["refused files left out"]),
    ...dropped.map((what) => `${what} left out`),
  ];
  return {
    messages: dropped.reduce<MessageList>((list, what) => Log.of(without(what, list)), messages),
    stages,
    by,
    ...(guarded?.overflow === undefined ? {} : { overflow: guarded.overflow }),
  };
}

/** Tokens of what is sent besides the messages, as the guard counts it. */
function besideMessages(state: RunState, rules: Rules): number {
  if (state.options.context?.guard?.counts === "messages") return 0;
  return frontOf(state, rules) + besideOf(state, rules);
}

const isSmaller = ({ note }: Staged): boolean => note === undefined || note.after < note.before;
