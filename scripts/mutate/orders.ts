// The room of the words between the campaign and its worker processes.

/** What a worker is to do. It reads this from a file and answers on its fourth descriptor, a line of JSON each. */
export type Order = {
  /** Each source's path, and where its instrumented text lies. */
  readonly places: { readonly [path: string]: string };
  /** Files with tests, absolute. */
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
  /** How often it asks the switches. */
  readonly asked: number;
}

export interface Trial {
  readonly id: string;
  /** Tests that met it, as they are to be tried. */
  readonly tests: readonly string[];
  /** How often it may be met in each of them. */
  readonly limits: readonly number[];
  /** It is on before the sources are loaded. */
  readonly fromTheStart: boolean;
  /** Its worker was clean of other mutants. */
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
  /** Mutants that a test met, and how often; test "": while the sources were loaded. */
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
  /** A mutant left something behind: what follows wants a new process. */
  | { readonly said: "stained" }
  | { readonly said: "done" };
