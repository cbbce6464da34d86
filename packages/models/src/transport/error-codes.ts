// The room of error codes: what the codes and types in all providers' errors mean.

import type { ErrorKind } from "@rondo/core";
import { isNumberedRequest, kindOfNumber } from "./numbered-codes.ts";

/** Codes that only say "invalid request"; the message says what is wrong with it. */
const requestCodes: ReadonlySet<string> = new Set([
  "invalid_request_error",
  "invalid_argument",
  "validationexception",
  "badrequesterror",
  "bad_request",
  "not_found_error",
  "not_found",
  "model_not_found",
  "failed_precondition",
  "out_of_range",
  "resourcenotfoundexception",
  "invalid_prompt",
  "unsupported_parameter",
  "unknown_parameter",
  "missing_required_parameter",
  "unsupported_value",
  "invalid_value",
  "invalid_encrypted_content",
  "thinking_signature_invalid",
]);

/** Codes that say that a field of the request is wrong. */
const fieldCodes: ReadonlySet<string> = new Set([
  "unsupported_parameter",
  "unknown_parameter",
  "missing_required_parameter",
  "unsupported_value",
  "invalid_value",
]);

/** Whether a code (lower case) is about a field of the request: the same request is refused again, whatever the status. */
export const isFieldCode = (code: string): boolean => fieldCodes.has(code);

/** An image that cannot be read will not be readable next time: OpenAI has a dozen codes for it. */
const imageCodes =
  /^(?:(?:invalid|empty|unsupported)_(?:\w+_)?image(?:_\w+)?|image_\w+|failed_to_download_image)$/;

/** Whether a code (lower case) only says "invalid request". */
export const isRequestCode = (code: string): boolean =>
  requestCodes.has(code.replace(/^.*[#/]/, "")) || imageCodes.test(code) || isNumberedRequest(code);

/** What a code means; in lower case and without a namespace. */
const codeKinds: ReadonlyMap<string, ErrorKind> = new Map(
  Object.entries({
    insufficient_quota: "quota_exhausted",
    exceeded_current_quota_error: "quota_exhausted",
    billing_error: "quota_exhausted",
    billing_hard_limit_reached: "quota_exhausted",
    billing_not_active: "quota_exhausted",
    insufficient_credits: "quota_exhausted",
    insufficient_credits_for_paid_model: "quota_exhausted",
    insufficient_balance: "quota_exhausted",
    creditserror: "quota_exhausted",
    gousagelimiterror: "quota_exhausted",
    freeusagelimiterror: "quota_exhausted",
    subscription_sharing_usage_limit_exceeded: "quota_exhausted",
    subscription_sharing_workplace_individual_usage_limit_exceeded: "quota_exhausted",
    balance_depleted: "quota_exhausted",
    credit_balance_exhausted: "quota_exhausted",
    organization_spend_limit_exceeded: "quota_exhausted",
    contract_spend_limit_reached: "quota_exhausted",
    enforced_spend_limit_reached: "quota_exhausted",
    linked_organization_spend_limit_reached: "quota_exhausted",
    linked_organization_billing_unavailable: "quota_exhausted",
    organization_usage_limit_exceeded: "quota_exhausted",
    project_spend_limit_exceeded: "quota_exhausted",
    terminal_quota_exhausted: "quota_exhausted",
    budget_exceeded: "quota_exhausted",
    "subscription:free-usage-exhausted": "quota_exhausted",
    quota_exceeded: "quota_exhausted",
    usage_limit_reached: "quota_exhausted",
    usage_not_included: "quota_exhausted",
    plan_limit_reached: "quota_exhausted",
    organization_quota_exceeded: "quota_exhausted",
    account_quota_exceeded: "quota_exhausted",
    "allocationquota.freetieronly": "quota_exhausted",
    setlimitexceeded: "quota_exhausted",
    accountoverdueerror: "quota_exhausted",
    arrearage: "quota_exhausted",
    accountquotaexceeded: "quota_exhausted",
    insufficient_user_quota: "quota_exhausted",
    pre_consume_token_quota_failed: "quota_exhausted",
    servicequotaexceededexception: "quota_exhausted",
    blocked_api_access: "quota_exhausted",
    token_quota_reached: "quota_exhausted",
    exceed_token_quota_limit: "quota_exhausted",
    commoditynotpurchased: "quota_exhausted",
    rate_limit_exceeded: "rate_limit",
    ramp_limit_exceeded: "rate_limit",
    rate_limit_error: "rate_limit",
    rate_limited: "rate_limit",
    limit_burst_rate: "rate_limit",
    too_many_requests: "rate_limit",
    too_many_tokens_error: "rate_limit",
    token_quota_exceeded: "rate_limit",
    resource_exhausted: "rate_limit",
    throttlingexception: "rate_limit",
    toomanyrequestsexception: "rate_limit",
    overloaded_error: "overloaded",
    compaction_unavailable: "overloaded",
    engine_overloaded_error: "overloaded",
    slow_down: "overloaded",
    capacity_exceeded: "overloaded",
    server_overload: "overloaded",
    serveroverloaded: "overloaded",
    queue_exceeded: "overloaded",
    no_capacity: "overloaded",
    nocapacity: "overloaded",
    upstream_unavailable: "overloaded",
    server_is_overloaded: "overloaded",
    service_unavailable_error: "overloaded",
    unavailable: "overloaded",
    modelnotreadyexception: "overloaded",
    authentication_error: "auth",
    invalid_api_key: "auth",
    expired_key: "auth",
    token_not_found_in_db: "auth",
    invalid_grant: "auth",
    invalid_token: "auth",
    invalid_authentication_error: "auth",
    unauthenticated: "auth",
    api_key_invalid: "auth",
    unauthorized: "auth",
    unrecognizedclientexception: "auth",
    invalidsignatureexception: "auth",
    incompletesignatureexception: "auth",
    missingauthenticationtokenexception: "auth",
    expiredtokenexception: "auth",
    expiredtoken: "auth",
    permission_error: "permission",
    permission_denied: "permission",
    accessdeniedexception: "permission",
    context_length_exceeded: "context_overflow",
    exceed_context_size_error: "context_overflow",
    prompt_too_long: "context_overflow",
    tokens_limit_reached: "context_overflow",
    model_context_window_exceeded: "context_overflow",
    request_too_large: "payload_too_large",
    request_body_too_large_after_decoding: "payload_too_large",
    content_filter: "content_filter",
    content_policy_violation: "content_filter",
    data_inspection_failed: "content_filter",
    datainspectionfailed: "content_filter",
    responsibleaipolicyviolation: "content_filter",
    image_content_policy_violation: "content_filter",
    moderation_blocked: "content_filter",
    bio_policy: "content_filter",
    cyber_policy: "content_filter",
    sensitive_words_detected: "content_filter",
    hooks_failed: "content_filter",
    prompt_blocked: "content_filter",
    prompt_threat_detected: "content_filter",
    unsafe_request: "content_filter",
    ipinfringementsuspect: "content_filter",
    faqruleblocked: "content_filter",
    // Gemini's reasons.
    safety: "content_filter",
    recitation: "content_filter",
    spii: "content_filter",
    blocklist: "content_filter",
    prohibited_content: "content_filter",
    unsupported_api_for_model: "capability",
    model_not_supported: "capability",
    unsupportedmodel: "capability",
    model_not_available_for_integrator: "capability",
    model_decommissioned: "capability",
    invalid_model: "capability",
    unimplemented: "capability",
    tool_use_failed: "malformed_tool_call",
    output_parse_failed: "malformed_tool_call",
    unsupported_country_region_territory: "permission",
    data_residency_mismatch: "permission",
    organization_on_hold: "permission",
    organization_restricted: "permission",
    model_terms_required: "permission",
    cmek_key_disabled: "permission",
    cmek_key_network_blocked: "permission",
    server_error: "server_error",
    // A gateway's own connection to the provider has reached its age.
    websocket_connection_limit_reached: "server_error",
    internal_server_error: "server_error",
    internalservererror: "server_error",
    internalerror: "server_error",
    internal_error: "server_error",
    internal: "server_error",
    api_error: "server_error",
    serviceunavailableexception: "server_error",
    internalserverexception: "server_error",
    internalfailure: "server_error",
    modelstreamerrorexception: "server_error",
    modelerrorexception: "server_error",
    modeltimeoutexception: "timeout",
    timeout_error: "timeout",
    deadline_exceeded: "timeout",
  } satisfies { [code: string]: ErrorKind }),
);

/** Codes of which a part says what they are, whatever else is in them. The first match counts. */
const parts: readonly (readonly [pattern: RegExp, kind: ErrorKind])[] = [
  // What was sensitive: Volcengine's text, image or output, Tencent's.
  [/sensitivecontentdetected|riskdetection$|illegaldetected$/, "content_filter"],
  // Who may not use the model: LiteLLM's key, user, team or organisation.
  [/_model_access_denied$/, "permission"],
  // Tencent's.
  [/^authfailure(?!\.unauthorizedoperation)/, "auth"],
  // Which window of a plan is used up: Baidu's hour, week or month.
  [/(?:hour|da(?:y|ily)|week(?:ly)?|month(?:ly)?)_quota_exceeded$/, "quota_exhausted"],
];

/**
 * The kind of error that a code stands for; undefined if it has no meaning of its own.
 * @param status the HTTP status, if there was one
 */
export const kindOfCode = (code: string, status?: number): ErrorKind | undefined =>
  codeKinds.get(code.replace(/^.*[#/]/, "")) ??
  kindOfNumber(code, status) ??
  parts.find(([pattern]) => pattern.test(code))?.[1];
