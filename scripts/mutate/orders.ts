// The room of the messages between the campaign and its worker processes.

/** A worker's order. It is read from a file; the answers go to descriptor 3, one line of JSON each. */
export type Order = {
  /** Path of each source, with the path of its instrumented text. */
  readonly places: { readonly [path: string]: string };
  /** Test files, absolute. */
  readonly files: readonly string[];
} & (
  | { readonly do: "look" }
  | {
      readonly do: "try";
      readonly tests: { readonly [id: string]: TestFacts };
      readonly mutants: readonly Trial[];
      /** How many mutants each test has killed so far. */
      readonly kills: { readonly [id: string]: number };
    }
);

export interface TestFacts {
  readonly file: string;
  readonly ms: number;
  /** How often it evaluates the switches. */
  readonly asked: number;
}

export interface Trial {
  readonly id: string;
  /** Tests that reached it, in the order to run them. */
  readonly tests: readonly string[];
  /** How often it may be reached in each of them. */
  readonly limits: readonly number[];
  /** It is active before the sources are loaded. */
  readonly fromTheStart: boolean;
  /** Its worker had not run other mutants before. */
  readonly fresh: boolean;
}

export type Verdict = "killed" | "survived" | "hung";

export type Said =
  | {
      readonly said: "test";
      readonly id: string;
      readonly file: string;
      readonly ms: number;
      readonly asked: number;
      readonly ok: boolean;
      readonly why?: string;
    }
  /** Mutants that a test reached, and how often; test "": while the sources were loaded. */
  | {
      readonly said: "met";
      readonly test: string;
      readonly mutants: readonly (readonly [id: string, times: number])[];
    }
  | { readonly said: "trying"; readonly id: string }
  | { readonly said: "alive" }
  | {
      readonly said: "verdict";
      readonly id: string;
      readonly verdict: Verdict;
      readonly test?: string;
      readonly ran: number;
    }
  /** A mutant left something behind: the next one needs a new process. */
  | { readonly said: "stained" }
  | { readonly said: "done" };
