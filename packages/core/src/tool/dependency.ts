// The room of dependencies: what tools need of the outside (a database, a client), given by key.
//
// A key carries its type and knows how to make its thing. An agent or a run may give another in its place. Within one
// call each key is resolved once; what was made for a call is that call's own.

import { callable, checkGiven, having, membersOf, text } from "../checks.ts";
import { invalidRequest } from "../errors.ts";

const dependencyParts = membersOf<{ id: string; create: () => unknown }>({ id: text, create: callable }, [
  "id",
  "create",
]);

/** A key for something tools need. Two keys with one id are one key. */
export interface Dependency<T> {
  readonly id: string;
  /** Makes the thing when nobody gave one. */
  create(): T | Promise<T>;
  /** This key with a thing given for it. */
  as(value: T): Provided;
}

/** Something given for a key: by the agent, or for one run. Made by `dependency(…).as(value)`. */
export interface Provided {
  readonly id: string;
  readonly value: unknown;
}

/**
 * Makes a key. Its type is that of what `create` makes.
 *
 *     const db = dependency("db", () => openDatabase("app.db"));
 *     // in a tool: const rows = (await context.resolve(db)).query(…)
 *     // in a test: agent.run("…", { dependencies: [db.as(fake)] })
 *
 * @throws RondoError `invalid_request` where there is no way to make it: let `create` throw where it must be given
 */
export function dependency<T>(id: string, create: () => T | Promise<T>): Dependency<T> {
  checkGiven(dependencyParts, { id, create }, `dependency ${JSON.stringify(id) ?? "without an id"}`);
  return { id, create, as: (value) => ({ id, value }) };
}

/** What a run has of the outside, for the sub-agents below it: what its agent gives, and what was given for the run. */
export interface PassedOn {
  /** Where a sub-agent's own agent gives nothing. */
  readonly byAgent: readonly Provided[];
  /** Before whatever a sub-agent's own agent gives. */
  readonly forRun: readonly Provided[];
}

/** What was given, by id; what stands later in the lists wins. */
export type Given = Readonly<Record<string, unknown>>;

export function givenBy(...lists: (readonly Provided[] | undefined)[]): Given {
  const given: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const list of lists) for (const { id, value } of list ?? []) given[id] = value;
  return Object.freeze(given);
}

const keyOf = having("what dependency(…) gives", { id: text, create: callable });

/** How one call resolves keys: what was given, else what the key makes, once. */
export function resolver(given: Given): <T>(key: Dependency<T>) => Promise<T> {
  // Most calls resolve nothing.
  let made: Map<string, Promise<unknown>> | undefined;
  return <T>(key: Dependency<T>): Promise<T> => {
    const fault = keyOf(key);
    if (fault !== undefined) return Promise.reject(invalidRequest(`resolve: ${fault.says}`));
    made ??= new Map();
    let known = made.get(key.id);
    if (known === undefined) {
      // In an async function also a throw of `create` is a rejection, and it is the same one each time.
      known = (async () => (key.id in given ? given[key.id] : key.create()))();
      made.set(key.id, known);
    }
    return known as Promise<T>;
  };
}
