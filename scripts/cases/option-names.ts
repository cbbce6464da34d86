// The room of option names: the synonyms that cases use for options.

/** Synonyms for a signal that is aborted in advance. */
export const abortedNames =
  /^(?:abort_?)?signal(?:_(?:is_|already_|pre_?)?aborted)?$|^(?:already_|pre_?)?aborted$/;

/** Synonyms of timeouts. */
const clockNames: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:first_(?:token|chunk|event|delta)|time_to_first_token|ttft|prefill)(?:_timeout)?_ms$/,
    "first_byte_timeout_ms",
  ],
  [/^first_byte_ms$/, "first_byte_timeout_ms"],
  [/^(?:socket|network|transport)_idle(?:_timeout)?_ms$|^bytes?_idle_ms$/, "byte_idle_timeout_ms"],
  [
    /^(?:(?:content|event|token|delta|model|chunk|response)_)?(?:idle|inactivity|silence|stall)(?:_timeout)?_ms$/,
    "idle_timeout_ms",
  ],
  [/^(?:stream|semantic)_(?:idle|inactivity)_ms$/, "semantic_idle_timeout_ms"],
  [
    /^(?:read|body|chunk|stream|between_chunks|inter_?(?:chunk|token)|(?:no_)?progress)_timeout_ms$/,
    "idle_timeout_ms",
  ],
  [/^connect_ms$/, "connect_timeout_ms"],
  [/^(?:request|call|overall|model)_timeout_ms$/, "total_timeout_ms"],
];

/** Synonyms of limits. */
const limitNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:max_(?:turns|iterations|rounds|loops)|(?:step|turn|iteration)_limit)$/, "max_steps"],
  [/^max_(?:model|llm)_calls$|^max_(?:total_)?requests$/, "max_total_model_calls"],
  [/^max_(?:repeats|repeated(?:_tool)?_calls|same_calls|duplicate(?:_tool)?_calls)$/, "max_identical_calls"],
  [/^max_(?:consecutive_)?(?:tool_)?(?:errors|failures|mistakes)$/, "max_consecutive_tool_errors"],
  [
    /^(?:starts?_(?:in|inside)_think(?:ing)?|think(?:ing)?_(?:pre_?opened|open(?:ed)?)|template_opens_think)$/,
    "starts_in_think",
  ],
  [/^max_(?:tool_)?calls_per_(?:turn|answer|response|message)$/, "max_tool_calls_per_turn"],
  [/^max_(?:parallel(?:_tools?)?(?:_calls)?|concurrent_tools|concurrency|tool_concurrency)$/, "max_parallel"],
  [/^max_(?:tool_)?(?:result|output)_(?:chars|characters|length)$/, "max_tool_result_chars"],
  [/^(?:token_budget|max_total_tokens|max_run_tokens)$/, "max_tokens_total"],
  [/^(?:deadline|run_timeout|max_run(?:time)?|(?:max_)?wall(?:_clock)?|time_budget)_ms$/, "max_duration_ms"],
  [/^(?:(?:max_)?(?:cost|budget)_(?:limit_)?usd|max_usd)$/, "max_cost_usd"],
  [/^(?:model_)?prices?$/, "price"],
  [/^(?:retries|retry_count)$/, "max_retries"],
  [/^(?:exempt(?:_tools)?|repeat_exempt)$/, "exempt_tools"],
  [/^(?:max_empty_(?:nudges|retries|answers)|empty_nudges)$/, "max_nudges"],
  [/^(?:grace(?:_period)?|abort_timeout|settle)_ms$/, "abort_grace_ms"],
  [/^(?:context_(?:limit|tokens|length|size)|window|max_context_tokens)$/, "context_window"],
  [/^max_(?:depth_of_agents|agent_depth|subagent_depth|sub_agent_depth)$/, "max_depth"],
  [/^max_(?:subagents|sub_agents|children)$/, "max_sub_agents"],
  [/^(?:retry_)?(?:base_delay|initial_delay|backoff_base|base)_ms$/, "base_delay_ms"],
  [/^(?:retry_)?(?:max_backoff|backoff_cap|cap)_ms$/, "max_delay_ms"],
  [/^max_(?:malformed_retries|malformed_calls)$/, "malformed_retries"],
  [/^max_(?:structured|output|schema|decode|repair)_(?:retries|repairs|rounds)$/, "decode_retries"],
  [/^(?:stop_sequences?|stops)$/, "stop"],
  [/^max_(?:output|completion)_tokens$/, "max_tokens"],
  [/^max_retry_after_ms$/, "max_retry_delay_ms"],
  [/^(?:compact_at|compaction_at|compact_threshold)$/, "compaction_threshold"],
  [/^tool_execution$/, "tool_order"],
  [
    /^(?:max_(?:pauses|pause_turns|pause_continuations|continuations|resumes)|pause_(?:limit|resumes))$/,
    "max_pause_resumes",
  ],
  [/^(?:max_tool_(?:definitions|count)|tool_(?:count_)?limit)$/, "max_tools"],
  [/^(?:nudges|max_continuation_prompts)$/, "max_nudges"],
  [/^(?:coerce_(?:arguments|args|types)|argument_coercion)$/, "coerce"],
  [/^(?:on_(?:length|truncation)|truncated_calls)$/, "on_truncated"],
  [/^(?:streaming|use_streaming)$/, "stream"],
  [/^(?:effort|thinking_effort|thinking_level|think)$/, "thinking"],
  [/^(?:(?:supports_)?(?:vision|images?)|image_input|multimodal)$/, "supports_images"],
  [/^(?:(?:native_)?tools_supported|(?:supports_)?(?:native_)?tools|tool_support)$/, "supports_tools"],
  [/^(?:auto_approve|approvals?|approval_policy)$/, "approver"],
  [/^(?:prompt_caching|caching|cache_control|auto_cache)$/, "cache"],
  [/^(?:timeout_ms)$/, "total_timeout_ms"],
];

/** The usual name of an option. */
export const usualOption = (name: string): string =>
  [...clockNames, ...limitNames].find(([names]) => names.test(name))?.[1] ?? name;
