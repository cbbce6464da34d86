// A plan's turns for models in process: those of the warm-up for agent 0.

export async function modelOf(scenario) {
  const { plans, warmTurns } = await import("../contest/plan.ts");
  const plan = plans[scenario];
  return (prompt) => (prompt.includes("#0.") ? warmTurns(plan) : plan.turns);
}
