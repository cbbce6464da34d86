// The room of filters' refusals: the phrases of providers, and of gateways with guardrails, for a prompt or an answer that they
// did not let through.

import { phrases } from "../patterns.ts";

/** A filter that objected to the prompt or the answer: the provider's, or a gateway's own. */
export const filterWords: RegExp = phrases(
  /\bguardrails?\b[^.]{0,40}\b(?:block|violat|interven|fail|trigger|den[iy])/,
  /\b(?:block|violat|reject|den[iy]|interven)\w{0,5}\b[^.]{0,40}\bguardrail/,
  /\b(?:prompt|request|response|input|output|content)s?\b[^.]{0,20}\b(?:blocked|rejected|denied|filtered)\b (?:due to|by|because)\b[^.]{0,30}\b(?:security configuration|safety|moderation|content|dlp)/,
  /\bprompt pattern is blocked\b/,
  /\brequest blocked: prompt injection\b/,
  /content[ _-]?(?:filter|management policy|policy[ _-]?violation)/,
  /flagged (?:by (?:our|the) (?:content|safety)|as potentially violating|for possible \w+ risk)/,
  /limited access to this content for safety/,
  /input was flagged/,
  /rejected (?:as a result of|by) (?:our|the) safety system/,
  /responsible ai practices/,
  /violates? (?:our |the )?usage (?:guidelines|polic)/,
  /content exists risk/,
  /considered high risk/,
  /may contain inappropriate content/,
  /敏感内容|违规(?:内容|信息)|违法违规|内容审核[不未]通过/,
  /\bnew_sensitive\b/,
  /unsafe or sensitive content/,
  /may contain sensitive information/,
  /sensitive words? detected/,
  // Of Azure's service: API Management's and Kong's.
  /\bfailed (?:the )?content[ -]safety check/,
  // LiteLLM's, of the services that it asks, and of its own.
  /\bviolat(?:ed|es) (?:the |our )?content[ -](?:safety|moderation) policy/,
  /\bcontent blocked(?: by [\w -]{1,40})?: /,
  /\bkeyword banned\b/,
  /\brejected message\. this is a prompt injection/,
  /\bblocked by model armor\b/,
  // Databricks'.
  /\b(?:input|output)_guardrail_triggered\b/,
  // APISIX's, with the names of Amazon Comprehend's: the body may be small.
  /\brequest body exceeds (?:toxicity|profanity|hate_speech|insult|harassment_or_abuse|sexual|violence_or_threat) threshold\b/,
  /\bcontains prohibited content\b/,
  // SAP's, Helicone's, Cohere's, Replicate's, Volcengine's, Baidu's.
  /\bfiltering module blocked\b/,
  /\bprompt threat detected\b/,
  /^blocked (?:input|output): /,
  /\bflagged as sensitive\b/,
  /\bincludes sensitive content\b/,
  // Oracle's.
  /\binappropriate content detected\b/,
);
