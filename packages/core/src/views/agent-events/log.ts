// The room of the session log: a session's records as rows, for those who follow what was sent and what came back.
//
// The rows are made from the journal alone. What was sent to the model is folded from the records before, as a replay does
// it, so it is exactly what was sent.

import type { CallKey, CallResult, LogRecord, RecordOf } from "../../loop/records.ts";
import { reduce } from "../../loop/reduce.ts";
import { requestOf } from "../../loop/request.ts";
import { callIn, emptyState, isOpen, withRun } from "../../loop/state.ts";
import type { AssistantMessage, ContentPart, JsonObject, Message, Usage } from "../../message.ts";
import type { Settings, ToolChoice, ToolDefinition } from "../../model.ts";
import type { Rules } from "../../rules/rule.ts";

/** `seq` counts the model calls of the session from 1; a response has that of its request. `ts` is milliseconds since 1970. */
export type SessionLogRow =
  | {
      type: "llm.request";
      run_id: string;
      ts: number;
      seq: number;
      model: string;
      input: {
        system?: string;
        messages: Message[];
        tools: readonly ToolDefinition[];
        toolChoice: ToolChoice;
        settings: Settings;
      };
    }
  | {
      type: "llm.response";
      run_id: string;
      ts: number;
      seq: number;
      output: {
        messages: AssistantMessage[];
        usage: Usage | null;
        stop_reason: string | null;
        /** The provider's own message if it was kept, and the origin of the answer. */
        provider_meta: JsonObject;
      };
    }
  | {
      type: "tool.output";
      run_id: string;
      ts: number;
      tool: string;
      tool_call_id: string;
      result_raw: ContentPart[];
      is_error: boolean;
      /** Where the full text is kept; null if it is not, or if the call got its result without running. */
      output_ref: string | null;
    };

/**
 * The rows of a session's records.
 * @param session its id: a run is `<session>:<number>`
 * @param rules of the agent, which determine the requests: `resolve(options).rules`
 */
export function sessionLog(records: Iterable<LogRecord>, session: string, rules: Rules): SessionLogRow[] {
  const rows: SessionLogRow[] = [];
  let state = emptyState;
  let seq = 0;
  for (const record of records) {
    const before = state;
    state = reduce(state, record, rules);
    const at = { run_id: `${session}:${before.run?.number ?? 0}`, ts: record.at };
    if (!isOpen(before.run)) continue;
    switch (record.type) {
      case "model_started": {
        seq += 1;
        const { messages, tools, toolChoice, settings, system } = requestOf(withRun(before), rules);
        const model = before.options?.models[record.model]?.id ?? "";
        const input = {
          ...(system === undefined ? {} : { system }),
          messages: [...messages],
          tools,
          toolChoice,
          settings,
        };
        rows.push({ type: "llm.request", ...at, seq, model, input });
        break;
      }
      case "model_finished": {
        const { message } = record;
        const { api, provider, model } = message.origin;
        const output = {
          messages: [message],
          usage: message.usage ?? null,
          stop_reason: message.stop.raw ?? message.stop.wire,
          provider_meta: { api, provider, model, ...(message.raw === undefined ? {} : { raw: message.raw }) },
        };
        rows.push({ type: "llm.response", ...at, seq, output });
        break;
      }
      case "tool_finished":
      case "hook_answered": {
        const given = resultIn(record);
        if (given === undefined) break;
        const call = callIn(before.run, given.call);
        if (call === undefined || call.result !== undefined) break;
        const { content, isError, ref } = given.result;
        rows.push({
          type: "tool.output",
          ...at,
          tool: call.name,
          tool_call_id: call.id,
          result_raw: content,
          is_error: isError,
          output_ref: ref ?? null,
        });
        break;
      }
      default:
    }
  }
  return rows;
}

/** The result of a call, from its tool, the loop, or a hook in place of the tool. */
function resultIn(
  record: RecordOf<"tool_finished" | "hook_answered">,
): { call: CallKey; result: CallResult } | undefined {
  if (record.type === "hook_answered" && record.hook !== "beforeTool") return undefined;
  const { call, result } = record;
  return result === undefined ? undefined : { call, result };
}
