// The room of the workplace: what an invocation has in flight in this process.
//
// Restate may retry an invocation while its earlier work still runs here: a connection broke, a server node died, a step
// seemed stuck. The work then goes on, and the new attempt gets its outcome; nothing is done twice. Another process has
// no such workplace: the work is lost to it, and it says so.

import { type Clock, type Fact, longestWait, RondoError, type State } from "@rondo/core";
import { isRunning, OngoingWork, type Shell } from "@rondo/core/driving";

type Driving = ConstructorParameters<typeof OngoingWork>[1];

/** How long work runs on when no attempt asks for it any more, in milliseconds. */
const orphanMs = 60_000;

/** Whether tools are running in a process; sub-agents run in objects of their own. */
export function toolsAreAtWork({ run }: State): boolean {
  const calls = run?.turn?.calls ?? [];
  return calls.some((call) => isRunning(call) && call.child === undefined);
}

export class Workplace {
  /** Its id, unique among all processes. */
  readonly id: string;
  readonly ongoing: OngoingWork;
  #driving: Driving;
  readonly #came: Fact[] = [];
  /** Number of facts before the first in `#came`. */
  #before = 0;
  readonly #begun = new Set<string>();
  #wakers = new Set<() => void>();
  #orphaned: NodeJS.Timeout | undefined;
  #waits = false;

  constructor(id: string, shell: Shell, driving: Omit<Driving, "post">) {
    this.id = id;
    this.#driving = { ...driving, post: () => {} };
    this.ongoing = new OngoingWork(shell, {
      state: () => this.#driving.state(),
      post: (fact) => {
        this.#came.push(fact);
        this.wake();
      },
      tell: (event) => this.#driving.tell(event),
    });
  }

  /** Another attempt at the invocation continues here. */
  attach(driving: Omit<Driving, "post">): void {
    clearTimeout(this.#orphaned);
    this.#orphaned = undefined;
    this.#driving = { ...driving, post: () => {} };
  }

  /** The attempt is over, and it is not known whether another will come here. */
  leave(gone: () => void): void {
    clearTimeout(this.#orphaned);
    this.#orphaned = setTimeout(() => {
      this.stop("nobody asks for its result any more");
      gone();
    }, orphanMs);
    this.#orphaned.unref();
    this.wake();
  }

  /** Starts work, unless it was already started. */
  begin(name: string, begin: () => void): void {
    if (this.#begun.has(name)) return;
    this.#begun.add(name);
    begin();
  }

  /** Tells all work in flight to stop. */
  stop(why: string): void {
    clearTimeout(this.#orphaned);
    this.ongoing.stopAll(new RondoError("aborted", why));
    this.wake();
  }

  /** Whether any work was started here. */
  get used(): boolean {
    return this.#begun.size > 0;
  }

  /** Whether work here has an outcome, or will have one, that Restate does not know yet. */
  get isBusy(): boolean {
    return this.#waits || toolsAreAtWork(this.#driving.state());
  }

  /** Whether a step waits here for work that was started. */
  set waits(waits: boolean) {
    this.#waits = waits;
  }

  /** The facts after the first `taken` ones. */
  after(taken: number): readonly Fact[] {
    if (taken > this.#before) {
      this.#came.splice(0, taken - this.#before);
      this.#before = taken;
    }
    return this.#came.slice(taken - this.#before);
  }

  /** Resolves when something may have changed, or at a time. @param at infinite: no time */
  woken(at: number, clock: Clock): Promise<void> {
    return new Promise((resolve) => {
      let cancel = (): void => {};
      const heard = (): void => {
        cancel();
        resolve();
      };
      this.#wakers.add(heard);
      if (at === Infinity) return;
      cancel = clock.after(Math.min(Math.max(0, at - clock.now()), longestWait), () => {
        this.#wakers.delete(heard);
        resolve();
      });
    });
  }

  wake(): void {
    const wakers = this.#wakers;
    this.#wakers = new Set();
    for (const heard of wakers) heard();
  }
}

/** The workplaces of this process, by invocation. */
export class Workplaces {
  readonly #process: string;
  readonly #byInvocation = new Map<string, Workplace>();
  #made = 0;

  /** @param process its unique id */
  constructor(process: string) {
    this.#process = process;
  }

  get size(): number {
    return this.#byInvocation.size;
  }

  of(invocation: string, shell: Shell, driving: Omit<Driving, "post">): Workplace {
    const known = this.#byInvocation.get(invocation);
    if (known !== undefined) {
      known.attach(driving);
      return known;
    }
    this.#made += 1;
    const made = new Workplace(`${this.#process}/${this.#made}`, shell, driving);
    this.#byInvocation.set(invocation, made);
    return made;
  }

  /** Replaces a workplace whose work is obsolete, because another process has taken over since. */
  renew(invocation: string, shell: Shell, driving: Omit<Driving, "post">): Workplace {
    this.end(invocation);
    return this.of(invocation, shell, driving);
  }

  /** The attempt ended; the invocation may go on. */
  leave(invocation: string, workplace: Workplace): void {
    if (this.#byInvocation.get(invocation) !== workplace) return;
    workplace.leave(() => {
      if (this.#byInvocation.get(invocation) === workplace) this.#byInvocation.delete(invocation);
    });
  }

  /** The invocation is over. */
  end(invocation: string): void {
    const workplace = this.#byInvocation.get(invocation);
    this.#byInvocation.delete(invocation);
    workplace?.stop("the run is over");
  }

  /** Resolves when no work is in flight, or after `withinMs`. */
  async idle(withinMs: number): Promise<void> {
    const end = Date.now() + withinMs;
    while (Date.now() < end && [...this.#byInvocation.values()].some(({ isBusy }) => isBusy))
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  stopAll(): void {
    for (const workplace of this.#byInvocation.values()) workplace.stop("the worker was closed");
    this.#byInvocation.clear();
  }
}
