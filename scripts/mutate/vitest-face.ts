// The room of the vitest replacement: what a test file imports as "vitest" while mutants are tried.
//
// Test files are loaded once in a process; each test is then run once per mutant it reaches. `expect` is
// vitest's own. Collecting and running tests is done here, as vitest's runner starts from scratch for each run, which
// costs a hundred times as much as most tests.

import { expect as theirs } from "../../node_modules/vitest/dist/index.js";

export * from "../../node_modules/vitest/dist/index.js";

type Body = (...given: never[]) => unknown;
type Hook = () => unknown;

export interface CollectedTest {
  readonly id: string;
  readonly body: () => Promise<void>;
}

interface Suite {
  readonly name: string;
  readonly above: Suite | undefined;
  readonly before: Hook[];
  readonly after: Hook[];
  readonly once: Hook[];
  /** Whether the one-time setup was done. */
  begun?: Promise<void>;
}

let file = "";
let suite: Suite = { name: "", above: undefined, before: [], after: [], once: [] };
let finished: Hook[] = [];
let collected: CollectedTest[] = [];

/** Everything that a test file declares. */
export async function collect(name: string, load: () => Promise<unknown>): Promise<CollectedTest[]> {
  file = name;
  collected = [];
  suite = { name: "", above: undefined, before: [], after: [], once: [] };
  await load();
  return collected;
}

function pathOf(one: Suite | undefined): string[] {
  return one === undefined ? [] : [...pathOf(one.above), ...(one.name === "" ? [] : [one.name])];
}

async function begin(one: Suite | undefined): Promise<void> {
  if (one === undefined) return;
  await begin(one.above);
  one.begun ??= (async () => {
    for (const hook of one.once) await hook();
  })();
  await one.begun;
}

async function around(one: Suite | undefined, run: () => Promise<void>): Promise<void> {
  if (one === undefined) return run();
  await around(one.above, async () => {
    try {
      for (const hook of one.before) await hook();
      await run();
    } finally {
      for (const hook of one.after) await hook();
    }
  });
}

const bodyOf = (given: readonly unknown[]): Body =>
  given.find((one): one is Body => typeof one === "function") ?? (() => undefined);

function declare(name: string, body: Body, values: readonly unknown[]): void {
  const mine = suite;
  const path = [...pathOf(mine), name].join(" > ");
  const context = { expect, onTestFinished, skip: () => {}, task: { name } };
  collected.push({
    id: `${file} :: ${path} #${collected.length}`,
    body: async () => {
      await begin(mine);
      finished = [];
      const mineFinished = finished;
      await around(mine, async () => {
        try {
          await (body as (...given: unknown[]) => unknown)(...(values.length > 0 ? values : [context]));
        } finally {
          for (const hook of mineFinished.reverse()) await hook();
        }
      });
    },
  });
}

type Declare = (name: string, ...given: unknown[]) => void;
type Each = (rows: readonly unknown[]) => Declare;
interface Face extends Declare {
  each: Each;
  for: Each;
  skip: Declare & { each: Each };
  todo: Declare;
  skipIf(condition: unknown): Declare;
  runIf(condition: unknown): Declare;
}

function faceOf(one: (name: string, body: Body, values: readonly unknown[]) => void): Face {
  const plain: Declare = (name, ...given) => one(name, bodyOf(given), []);
  const none: Declare = () => {};
  const each: Each =
    (rows) =>
    (name, ...given) => {
      // Rows are spread only if all are arrays, as in vitest.
      const spread = rows.every((row) => Array.isArray(row));
      for (const row of rows) one(name, bodyOf(given), spread ? (row as unknown[]) : [row]);
    };
  return Object.assign(plain, {
    each,
    for: ((rows) =>
      (name, ...given) => {
        for (const row of rows) one(name, bodyOf(given), [row, { expect, onTestFinished }]);
      }) as Each,
    skip: Object.assign(none.bind(undefined), { each: () => none }),
    todo: none,
    skipIf: (condition: unknown): Declare => (condition ? none : plain),
    runIf: (condition: unknown): Declare => (condition ? plain : none),
  });
}

export const test: Face = faceOf(declare);
export const it: Face = faceOf(declare);
export const describe: Face = faceOf((name, body, values) => {
  const above = suite;
  suite = { name, above, before: [], after: [], once: [] };
  (body as (...given: unknown[]) => unknown)(...values);
  suite = above;
});
export const beforeEach = (hook: Hook): unknown => suite.before.push(hook);
export const afterEach = (hook: Hook): unknown => suite.after.unshift(hook);
export const beforeAll = (hook: Hook): unknown => suite.once.push(hook);
/** Does nothing: what was set up once serves every run of the tests. */
export const afterAll = (_hook: Hook): void => {};
export const onTestFinished = (hook: Hook): unknown => finished.push(hook);

/** vitest's own needs its runner. */
function poll(ask: () => unknown, options: { timeout?: number; interval?: number } = {}): unknown {
  const { timeout = 1_000, interval = 50 } = options;
  const until = performance.now() + timeout;
  const tried =
    (path: readonly string[]) =>
    async (...wanted: unknown[]): Promise<void> => {
      for (;;) {
        try {
          let matcher: unknown = theirs(await ask());
          for (const name of path.slice(0, -1)) matcher = (matcher as Record<string, unknown>)[name];
          (matcher as Record<string, (...given: unknown[]) => unknown>)[path.at(-1) as string]?.(...wanted);
          return;
        } catch (thrown) {
          if (performance.now() > until) throw thrown;
          await new Promise((done) => setTimeout(done, interval));
        }
      }
    };
  const at = (path: readonly string[]): unknown =>
    new Proxy(() => {}, {
      get: (_target, name) => at([...path, String(name)]),
      apply: (_target, _self, wanted: unknown[]) => tried(path)(...wanted),
    });
  return at([]);
}

export const expect: typeof theirs = Object.assign(
  ((...given: Parameters<typeof theirs>) => theirs(...given)) as typeof theirs,
  theirs,
  { poll },
);
