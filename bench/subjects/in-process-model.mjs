// The room of the in-process model: a plan's turns; agent 0 gets those of the warm-up.

export async function modelOf(scenario) {
  const { plans, warmTurns } = await import("../contest/plan.ts");
  const plan = plans[scenario];
  return (prompt) => (prompt.includes("#0.") ? warmTurns(plan) : plan.turns);
}
