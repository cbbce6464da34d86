// The room of dependencies: what tools need from outside (a database, a client), injected by key.
//
// A key has a type and can create its value. An agent or a run may give another value instead. Within one call each key is
// resolved once; a value created for a call is that call's own.

import { callable, checkGiven, having, membersOf, text } from "../checks.ts";
import { invalidRequest } from "../errors.ts";

const dependencyParts = membersOf<{ id: string; create?: () => unknown }>({ id: text, create: callable }, [
  "id",
]);

/** A typed key for something that tools need. Two keys with the same id are the same key. */
export interface Dependency<T> {
  readonly id: string;
  /** Creates the value if none was given. */
  create(): T | Promise<T>;
  /** This key with a value, for the option `dependencies`. */
  as(value: T): Provided;
}

/** A value for a key, given by the agent or for one run. Made by `dependency(…).as(value)`. */
export interface Provided {
  readonly id: string;
  readonly value: unknown;
}

/**
 * Declares a dependency and returns its key. The key's type is that of what `create` returns.
 *
 *     const db = dependency("db", () => openDatabase("app.db"));
 *     // in a tool: const rows = (await context.resolve(db)).query(…)
 *     // in a test: agent.run("…", { dependencies: [db.as(fake)] })
 *
 * @param create default: the value must be given, `dependency<User>("user")`; `resolve` rejects where it is not
 * @throws RondoError `invalid_request` saying what cannot be used
 */
export function dependency<T>(id: string, create: () => T | Promise<T> = () => notGiven(id)): Dependency<T> {
  checkGiven(dependencyParts, { id, create }, `dependency ${JSON.stringify(id) ?? "without an id"}`);
  return { id, create, as: (value) => ({ id, value }) };
}

function notGiven(id: string): never {
  throw invalidRequest(
    `the dependency ${JSON.stringify(id)} has no value: give one with the run or the session (dependencies: [key.as(value)]), or to the agent`,
  );
}

/** The dependencies of a run that its sub-agents get as well: those of its agent, and those of the run. */
export interface PassedOn {
  /** Used if the sub-agent's own agent gives no value. */
  readonly byAgent: readonly Provided[];
  /** Override what the sub-agent's own agent gives. */
  readonly forRun: readonly Provided[];
}

/** The given values by id; later ones in the lists win. */
export type Given = Readonly<Record<string, unknown>>;

export function givenBy(...lists: (readonly Provided[] | undefined)[]): Given {
  const given: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const list of lists) for (const { id, value } of list ?? []) given[id] = value;
  return Object.freeze(given);
}

const keyOf = having("what dependency(…) gives", { id: text, create: callable });

/** Resolves keys for one call: the given value, else what the key creates, once. */
export function resolver(given: Given): <T>(key: Dependency<T>) => Promise<T> {
  // Most calls resolve nothing.
  let made: Map<string, Promise<unknown>> | undefined;
  return <T>(key: Dependency<T>): Promise<T> => {
    const fault = keyOf(key);
    if (fault !== undefined) return Promise.reject(invalidRequest(`resolve: ${fault.says}`));
    made ??= new Map();
    let known = made.get(key.id);
    if (known === undefined) {
      // In an async function a throw of `create` is a rejection, and the same one each time.
      known = (async () => (key.id in given ? given[key.id] : key.create()))();
      made.set(key.id, known);
    }
    return known as Promise<T>;
  };
}
