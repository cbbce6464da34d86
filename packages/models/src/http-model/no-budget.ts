// The room of a budget of no tokens for reasoning: it means that there should be none. In most protocols a budget, however
// small, switches reasoning on, and a budget of 0 is refused.

import type { ModelRequest } from "@rondo/core";

export function withoutEmptyBudget(request: ModelRequest): ModelRequest {
  const { settings } = request;
  const { reasoning } = settings;
  if (typeof reasoning !== "object" || reasoning.budgetTokens !== 0) return request;
  return { ...request, settings: { ...settings, reasoning: "off" } };
}
