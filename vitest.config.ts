import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What processes that tests start have compiled, and rid of its types: they load the same sources hundreds of times. */
const env = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url)),
};

const shared = {
  resolve: {
    conditions: ["rondo-source"],
    alias: [{ find: /^fast-check$/, replacement: fileURLToPath(new URL("test/seeded.ts", import.meta.url)) }],
  },
  ssr: { resolve: { conditions: ["rondo-source"] } },
};

/** Files that take long: they begin first, so that at the end no worker has one alone. */
const long = [
  ...["own-cases", "crash", "cases", "chaos", "exploring", "driver", "site", "docs", "bench", "faults"],
  ...["cases-runner", "llama-native", "processes", "random-processes", "cuts", "long-answers"],
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      long.some((name) => moduleId.endsWith(`/${name}.slow.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((one) => !isLong(one))];
  }
}

export default defineConfig({
  ...shared,
  test: {
    sequence: { sequencer: LongFirst },
    // Most slow tests wait for processes of their own: two side by side are right on two cores as well.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ["default", "./scripts/skip-reasons.ts"],
    projects: [
      {
        ...shared,
        test: {
          name: "fast",
          env,
          include: ["test/**/*.test.ts", "packages/*/test/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/*.slow.test.ts"],
          // Loading the sources anew for each of some three hundred files takes longer than the tests do.
          isolate: false,
          // A slow machine is no defect: what hangs is caught, what is slow is not.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...shared,
        test: {
          name: "slow",
          env,
          include: ["test/**/*.slow.test.ts", "packages/*/test/**/*.slow.test.ts"],
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
