// The room of skip reasons: a vitest reporter that prints why tests were skipped, each reason once, so that nobody overlooks a skip.

import type { Reporter, TestModule } from "vitest/node";

export default class SkipReasons implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    for (const module of modules)
      for (const test of module.children.allTests("skipped")) {
        const result = test.result();
        const note = result.state === "skipped" ? result.note : undefined;
        const reason = `${module.relativeModuleId}: ${note ?? "no reason given"}`;
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    for (const [reason, count] of counts) console.log(`skipped ${count}: ${reason}`);
  }
}
