// The room of the check: one thing that a conformance suite demands, by name, for any test runner.

/** One demand on a subject. `run` rejects, saying what is wrong, where it does not hold. */
export interface Check {
  name: string;
  run(): Promise<void>;
}

/** How a runner is told of a test: `test` of vitest, jest or node:test. */
export type RegisterTest = (name: string, run: () => Promise<void>) => unknown;

/** Names the checks after their subject, and registers them where there is somewhere to. */
export function checksOf(
  subject: string,
  checks: readonly (readonly [name: string, run: () => Promise<void>])[],
  test: RegisterTest | undefined,
): Check[] {
  const named = checks.map(([name, run]): Check => ({ name: `${subject}: ${name}`, run }));
  // Runners hand a context to what they call, some a callback to what takes one: ours takes nothing.
  if (test !== undefined) for (const { name, run } of named) test(name, () => run());
  return named;
}
