// The room of action names: the synonyms that cases use for actions and for the times of actions.

/** Synonyms of actions. */
const deeds: readonly (readonly [RegExp, string])[] = [
  [/^(?:(?:user_)?abort|cancel|stop|interrupt|signal_abort|abort_signal)(?:_run)?$/, "abort"],
  [/^(?:steering|interject|inject|inject_(?:user_)?message|steer_message)$/, "steer"],
  [/^(?:followup|queue|queue_message|enqueue)$/, "follow_up"],
  [/^(?:(?:new|second|user|next)_)?(?:prompt|message|run)$|^send(?:_message)?$/, "prompt"],
  [/^(?:break|break_off|stop_consuming|stop_reading|return|close_stream|consumer_break)$/, "break_consumer"],
  [/^(?:sleep|delay|advance|advance_clock)$/, "wait"],
  [/^(?:reopen|reload|restart_process|reopen_session)$/, "restart"],
  [/^(?:crash|kill(?:_9)?|die|process_dies)(?:_(?:and|then)_(?:resume|reopen|restart))?$/, "crash"],
];

/** Synonyms of times. */
const times: readonly (readonly [RegExp, string])[] = [
  [/^(?:before|before_start|before_run|run_start)$/, "start"],
  [/^(?:(?:after_)?load(?:ed)?|(?:after_)?(?:re)?open(?:ed)?)$/, "start"],
  [/^(?:chunk|sse_frame)$/, "frame"],
  [/^(?:delta|text_delta|first_(?:delta|event|token|text))$/, "event"],
  [
    /^(?:(?:in_|during_)?compaction|compact(?:ing|ion_start)|summary(?:_started)?|summari[sz]ing|during_summary)$/,
    "compaction_started",
  ],
  [/^(?:after_compaction|compaction_(?:end|ended|done)|compacted)$/, "compaction_finished"],
  [
    /^(?:(?:in_|during_)?(?:child|sub_?agent)|(?:child|sub_?agent)_start|child_started|(?:agent_)?spawned)$/,
    "sub_agent_started",
  ],
  [/^(?:tool_start|tool_running|tool_called|in_tool|during_tool|tool_executing)$/, "tool_started"],
  [
    /^(?:between_turns|after_tool|after_tool_result|tool_(?:done|end|ended|result|settled))$/,
    "tool_finished",
  ],
  [
    /^(?:backoff|in_backoff|during_backoff|retry|retry_scheduled|retry_wait|backoff_start)$/,
    "backoff_started",
  ],
  [
    /^(?:approval|approval_request|approval_pending|awaiting_approval|waiting_for_approval|parked)$/,
    "approval_requested",
  ],
  [/^(?:finished|run_end|run_ended|after_run|idle)$/, "settled"],
  [/^(?:after_response|after_turn|response|turn_end|before_request|turn)$/, "request"],
];

const named = (names: readonly (readonly [RegExp, string])[], word: string): string =>
  names.find(([words]) => words.test(word))?.[1] ?? word;

export const usualDeed = (word: string): string => named(deeds, word);
export const usualTime = (word: string): string => named(times, word);
