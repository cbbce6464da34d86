// The room of error messages: the phrases that providers and the servers around them use for what went wrong.
//
// Each list has one meaning. `errors.ts` decides which list is consulted, and in which order.

import { phrases } from "../patterns.ts";

/** A rate limit, whatever else the message says: these words veto every overflow pattern. */
export const rateWords: RegExp = phrases(
  /rate[ _-]?limit/,
  /throttl/,
  /too many requests/,
  /(?<!\blocal total )request limit reached/,
  /per[ _](?:minute|second|hour|day)\b/,
  /\b[TR]P[MD]\b/,
  /速率|频率|每(?:分钟|秒|小时|天)|限流|过于频繁/,
  /(?:please )?wait before|\bplease wait\b/,
  /quota/,
  /try again (?:in \d|later)/,
);

/** Money, credits or an allowance that is used up. */
export const moneyWords: RegExp = phrases(
  /exceeded your (?:current|monthly) quota/,
  /exceeded your (?:\w+ ){0,2}credits?\b/,
  /\bcredit limit\b[^.]{0,20}\b(?:exceeded|reached)/,
  /billing/,
  /credit balance/,
  /insufficient (?:account )?quota/,
  /\bquota is not enough\b/,
  /\bexhausted (?:its|your) free trial quota\b/,
  /\bvalid payment (?:instrument|method)\b/,
  /欠费/,
  /(?:out of|no|not enough|more|any) credits/,
  /\bnot enough (?:\w+ ){0,2}balance\b/,
  /credits[^.]{0,20}(?:exhausted|used up)/,
  /free (?:tier|quota|trial)[^.]{0,30}exhausted/,
  /used up your [^.]{0,20}\bfree allocation/,
  /overdue (?:balance|payment)/,
  /\b(?:account|bill) is (?:overdue|in arrears)\b/,
  /\bspend(?:ing)? limit\b/,
  /недостаточно средств/,
  /key limit exceeded/,
  /usage limit[^.]{0,20}(?:reached|exceeded)/,
  /reached[^.]{0,30}usage limit/,
  /使用上限/,
  /(?:weekly|monthly)[^.]{0,12} limit/,
  /account is suspended/,
  /payment required/,
  /\bbudget (?:(?:has been|is|was) )?(?:exceeded|exhausted)/,
  /exceeded ?(?:token ?)?budget/,
  /\bover budget\b/,
  /credits are depleted/,
  /spending cap/,
  /out of call volume/,
  /\bextra usage\b/,
  /requires available credits/,
  /balance is too low/,
  /额度不足/,
  /额度失败/,
  /(?<!每(?:分钟|秒).{0,6})(?:额度|余额|余量|配额)已?(?:用尽|用完|耗尽)/,
  /account is in good standing/,
  /reached (?:its|your) (?:token )?quota/,
  /(?:hour|week|month) allocated quota exceeded/,
);

/** A key that is missing, wrong or expired. */
export const keyWords: RegExp = phrases(
  /api[ _-]?key (?:is )?(?:not valid|invalid|expired|not found)/,
  /(?:incorrect|invalid|missing|expired) (?:x-)?api[ _-]?key/,
  /\bnot authenticated\b/,
  // Bedrock's, about its API keys, and Google's.
  /\bbearer token has expired\b/,
  // Baidu, Snowflake.
  /\baccess token (?:is |has )?(?:expired|invalid)\b/,
  /make sure your api key is valid/,
  /api key was reported as leaked/,
);

/**
 * Alibaba's words for a quota per minute, and the page of its documentation that they link to. The code beside them is the
 * one that OpenAI uses for an account without money; Scaleway says it in the words that OpenAI uses for that.
 */
export const minuteQuotaWords: RegExp = phrases(
  /(?<!free |hour |week |month )\ballocated quota exceeded\b/,
  /\berror-code#token-limit\b/,
  /\brequests rate limit exceeded\b/,
  /\bquota of (?:\d+ )?(?:tokens|requests|queries) per (?:second|minute)\b/,
);

/**
 * A plan, an allowance or a balance that is used up or expired, with whatever status: Claude's and ChatGPT's plans, Ollama,
 * Volcengine, Copilot, free tiers. MiniMax sends it with a 500.
 */
export const planWords: RegExp = phrases(
  /\b(?:hit|reached) your (?!.{0,30}(?:\brate|minute|concurren))(?:[\w.-]+ ){0,3}limit\b/,
  /usage limit is set to/,
  /\bexceeded your (?:[\w.-]+ ){0,3}usage limit\b/,
  /\busage quota\b/,
  /\btoken quota (?:is|was|has been) exceeded\b/,
  // A limit that a moment does not lift names the day or the time at which it ends.
  /\bquota (?:has been |is |was )?(?:exhausted|used up)\b[^{}]{0,40}\breset(?:s|ting)? (?:at|on) \d/,
  /\brun out of (?:\w+ )?requests\b/,
  /\bused (?:up )?all (?:of )?your\b/,
  /\bfree tier limit reached\b/,
  /\b(?:subscription|trial)(?: has)? (?:expired|ended)\b/,
  /\b(?:no|not have an) active (?:\w+ )?subscription\b/,
  /\binsufficient (?:\w+ ){0,3}(?:balance|credits?|funds)\b/,
  /\bbalance is insufficient\b/,
  /余额不足|超过套餐|套餐\S{0,6}(?:用完|用尽|耗尽)|用量已超[过出]|(?:小时|[日天周月])的?使用上限|每[周月](?:限制|限额)/,
);

/** A limit that passes soon, with whatever status. */
export const passingLimitWords: RegExp = phrases(
  /\btoo many (?:concurrent )?requests\b/,
  /\bconcurren(?:t|cy) (?:requests? )?limit (?:exceeded|reached)\b/,
  /\brate[ -]limit (?:was |has been )?(?:exceeded|reached)\b/,
  // GitHub, with a 403.
  /\bexceeded a secondary rate limit\b/,
  /\b(?:been|are|is|was) rate[ -]limited\b/,
  /\breached your (?:\w+ ){0,4}rate[ -]limit\b/,
  /exceeded your current request limit/,
  /\b[RT]PM limit (?:exceeded|reached)/,
  /速率(?:限制|超)|频率(?:限制|超|过)|请求过于频繁|限流/,
);

/** What an account may not do, or not from this country. */
export const permissionWords: RegExp = phrases(
  /\b(?:location|region|country) is not supported\b/,
  /\borganization has been disabled\b/,
  /\bnot allowed from unsupported countries\b/,
  /\bnot available in your (?:location|region|country)\b/,
  /\bmatching your (?:data policy|guardrail)/,
  // Baidu; MiniMax, with a 500.
  /^no permission to (?:access|call|use)\b/,
  /\bplan (?:does )?not support model\b/,
);

/** A file that the provider has deleted, or that another account stored: Google answers with a 403 two days after an upload. */
export const lostFileWords: RegExp = phrases(/\baccess the file \S+ or it may not exist\b/);

/** A file that Google, Alibaba or Volcengine is still taking apart after its upload: a moment later the same request is answered. */
export const pendingFileWords: RegExp = phrases(
  /\bfile \S+ is not in an ACTIVE state\b/,
  /\bfile parsing in progress\b/,
  /\bfile is in invalid state: ?in ?progress\b/,
);

/** Something that the model or its server cannot do at all: tools, files, streams, schemas. */
export const capabilityWords: RegExp = phrases(
  /\bunsupported param(?:eter)?(?:\(s\))?: [`'"]?tools\b/,
  /(?:does not|doesn't|do not|don't|not) support(?:ed)? (?:for )?(?:native )?(?:tools?|function|parallel tool|images?|vision|audio|video|documents?|system|stream|json|structured|response_format|reasoning|thinking)/,
  /(?:tools?|functions|tool use|(?:tool|function) call(?:s|ing)?|(?:image|audio|video|document) inputs?|vision|streaming)[`'"]* (?:is|are) not (?:supported|enabled)/,
  /no endpoints found that (?:support|can handle)/,
  /requires --enable-auto-tool-choice/,
  /\btool call parser not given\b/,
  /\bnot (?:currently )?support(?:ed for this model)?(?: parameters)?: [[{]?[`'"]*tools\b/,
  // Databricks, of a model that knows calls, but no results.
  /\bnot support continuing the chat past\b/,
  /tools param requires --jinja/,
  /\bcannot use tools with stream\b/,
  /missing data required for image/,
  // Ollama and LM Studio: the machine is too small for the model.
  /\brequires more system memory\b/,
  /\binsufficient system resources\b/,
  /不支持 ?(?:工具|函数|tools?\b|function)/,
);

/**
 * A model that the provider does not have, or no longer, where it says so with another status than 404: Copilot, DeepSeek,
 * Groq, LiteLLM, Mistral, OpenRouter.
 */
export const goneWords: RegExp = phrases(
  /\bmodel not exist\b/,
  /\bis not a valid model\b/,
  /\binvalid model(?: name passed\b|: )/,
  /\brequested model is not (?:supported\b|available for integrator\b)|\bmodel is not supported when using\b/,
  /\bmodel\b(?:[^.{}]|\.(?=\S)){0,80} (?:(?:has been|was) (?:decommissioned|deprecated|discontinued|retired|removed)|is no longer (?:available|supported))\b/,
);

/** A model, or an address, that its provider serves only through another protocol: OpenAI, Azure, Copilot. */
export const otherApiWords: RegExp = phrases(
  /\bnot accessible via the \/?\S+ endpoint/,
  /\bonly supported in v1\/\w+ and not in\b/,
  /\bnot supported in the v1\/\S+ endpoint/,
  /\boperation does not work with the specified model\b/,
  /\bmodel does not support the (?:chat completions|responses|messages) api\b/,
  /\bin the responses api, this parameter has moved\b/,
  /\bresponses api is enabled only for\b/,
  /\brequested (?:api is currently not supported|operation is unsupported)\b/,
);

/**
 * What a server's chat template fails on (arguments in the history, the order of roles, an unknown role), what it cannot
 * compile to a grammar, and what Alibaba's loop guard finds. Sent again unchanged, the request fails for ever (F097, F128,
 * F129).
 */
export const templateWords: RegExp = phrases(
  /failed to parse tool call arguments/,
  // In llama.cpp's engines the place of the failure.
  /\bjinja exception\b/,
  /\bat row \d+, column \d+\b/,
  /\bwhile executing \w+ at line \d+\b/,
  /only supports? single tool[- ]?calls? at once/,
  /\btool response dicts require a\b/,
  /\bsystem message must be at the begin/,
  /can only get item pairs from a mapping/,
  /filter 'items' for type string/,
  /unknown method: items\b/,
  /cannot pass both content and thinking/,
  /\broles must alternate\b/,
  /\bsystem role (?:is )?not supported\b/,
  /\bno user query found\b/,
  /\bassistant messages at the end\b/,
  /\binvalid tool response: /,
  /repetitive tool calls detected/,
  /failed to (?:parse grammar|initialize samplers)/,
  /\bgrammar-based generation\b.{0,120}\bnot supported\b/,
  /\binvalid grammar specification\b/,
  /\bonly user(?:, system)?(?: and|,) assistant(?:,? (?:and )?tool)? roles are supported\b/,
);

/** A body of too many bytes, with whatever status. */
export const bodyWords: RegExp = phrases(
  /(?:payload|body) size exceeds the limit: \d+ bytes/,
  /payload is below \d+ bytes/,
  /total message size \d+ exceeds/,
  /\b(?:request|payload) body (?:is )?(?:too large|exceeds)\b/,
  /\brequest body: length limit exceeded/,
);

/** OpenAI's and Amazon's words for a field that it does not know, or not for this model, and Python's, which servers answer with a 500. */
export const fieldWords: RegExp = phrases(
  /\b(?:unknown|unsupported) parameter: ?[`'"]/,
  /\bunrecognized request argument supplied\b/,
  /\bgot an unexpected keyword argument ?[`'"]/,
  /\bextraneous key \[\w+\] is not permitted\b/,
);

/** The server's own parser could not read a call that the model wrote: llama.cpp, Ollama, LM Studio, vLLM, Cerebras, Databricks. */
export const callWords: RegExp = phrases(
  /failed to generate (?:a )?tool[ _]calls?/,
  /\bmodel response did not respect the required format\b/,
  /failed to parse (?:input at pos|tool calls?(?! arguments)|xml|\w+ json tool call)/,
  /model produced output that does not match the expected/,
  /mismatched arg_key and arg_value counts/,
  /error parsing tool call/,
  /tool call(?:s|ing)? could not be parsed/,
  /xml syntax error on line \d/,
  /expected element type <\w+> but have/,
  /unexpected tokens? (?:\d+ while expecting start token|remaining in message header)/,
  /\bunknown role: (?:(?:<\|\w+\|>)+\w*|assistant\w+|analysis|commentary|final)/,
  /\bchannel marker present but no channel value\b/,
);

/** The same for Ollama, in phrases that would be about the request if the request had been refused. */
export const failedCallWords: RegExp = phrases(
  /^failed to parse json: /,
  /^empty (?:function|(?:\w+ )?tool call) name$/,
  /^tool '[^']*' not found$/,
);

/** What a gateway says about the server behind it, or a server about the model that it had loaded, with any status. */
export const upstreamWords: RegExp = phrases(
  /\bdegraded function cannot be invoked\b/,
  /\bmodel has crashed\b/,
  /^model (?:is )?unloaded\b/,
  // New API and One API, whose servers for a model are all switched off for the moment, also with a 400.
  /\bno available channel for\b/,
  /无可用渠道/,
  /failed to get response from provider/,
  /^upstream request failed\.?$/,
  // OpenCode's gateway, with a 400.
  /\bupstream request failed: (?:model|endpoint) is unavailable\b/,
  // Fireworks, with a 400: a fault of the computation, and the same request succeeds.
  /\bfloating[- ]point nan\b[^{}]{0,60} detected in generation\b/,
  // A filter and a low `max_tokens` are then named as possible causes.
  /\breturned an empty (?:response|completion)\b/,
  /no healthy upstream/,
  /upstream (?:connect error|unreachable|http\/2 stream failed)/,
  /\b(?:internalserver|modelerror|modelstreamerror|serviceunavailable)exception\b/,
);

/**
 * What a gateway says if its connection to the server behind it broke or could not be made, with any status: the phrases
 * of Go's, Node's and Python's clients, and of the SDKs of OpenAI and Anthropic.
 */
export const brokenWords: RegExp = phrases(
  /\bunexpected EOF\b/,
  /\bconnection (?:error\b|(?:was )?(?:reset|refused|closed|aborted|lost|broken)|timed out|attempts? failed)/,
  /\bconnection by the remote\b/,
  /\bclosed connection (?:before|without)\b/,
  // Alibaba, although nobody has.
  /\bclient disconnected before\b/,
  /\bsocket hang up\b/,
  /\bfetch failed\b/,
  /\bbroken pipe\b/,
  /\bno such host\b/,
  /\bi\/o timeout\b/,
  /\bdial tcp\b/,
  /\bcontext deadline exceeded\b/,
  /\bTLS handshake\b/,
  /\breceived from peer\b/,
  /<StreamReset stream_id:\d/,
  /\bGOAWAY\b/,
  // Codex's words, which proxies for it pass on as a bad request.
  /\bstream (?:disconnected|closed|ended|terminated) (?:before|prematurely|unexpectedly)\b/,
  /\bincomplete chunked read\b/,
  /\bdisconnected without sending\b/,
  /\bcannot connect to host\b/,
  /\bname resolution\b/,
  /\bnetwork is unreachable\b/,
  /\bno route to host\b/,
  /\bread operation timed out\b/,
  /\b(?:ECONNRE(?:SET|FUSED)|ECONNABORTED|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|UND_ERR_\w+)\b/,
  /\bupstream request (?:timed out|timeout)\b/,
);

/** Too much load on the server, as opposed to a limit of the account. */
export const overloadWords: RegExp = phrases(
  /\boverload(?:ed)?\b/,
  /at (?:maximum )?capacity/,
  /\bcapacity temporarily exceeded\b/,
  /high demand/,
  /\btoo busy\b/,
  /\b(?:server|model) (?:is )?busy\b/,
  /\btraffic is currently high\b/,
  /\bclosed or temporarily unavailable\b/,
  /\bmodel is (?:currently |still )?(?:being )?load(?:ing|ed)\b/,
  /\bmodel is not (?:yet )?ready\b/,
  /\b(?:model|service|provider|server)\b(?:[^.{}]|\.(?=\S)){0,60}\bis (?:currently|temporarily) unavailable\b/,
  // oMLX's guard of the machine's memory: what other requests hold is free again soon, and a short prompt is refused too.
  /\bprefill would require\b[^{}]{0,20}\bpeak\b/,
  /\bmemory limit exceeded\b/,
  /负载(?:已饱和|过高)/,
  /访问量过大/,
  /(?:系统|服务器?)繁忙/,
);

/** The same in vaguer words, for an error that says nothing else. */
export const busyWords: RegExp = phrases(
  /\boverload(?:ed)?\b/,
  /unavailable/,
  /high demand/,
  /at (?:maximum )?capacity/,
  /timed out/,
  /timeout/,
  /temporarily/,
  /\btoo busy\b/,
  /resource[ _]?exhausted/,
);
