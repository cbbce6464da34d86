// The room of the switches: which mutant is active, and which ones a test reaches.
//
// The instrumented sources call this at every place with mutants, millions of times, so it is simple and fast. A mutant
// that causes an endless loop is caught by counting: its switch throws once it was reached far too often, or once all
// switches together were.

export interface Switches {
  /** The active mutant; "" for none. */
  on: string;
  /** How often the active mutant may still be reached. */
  left: number;
  /** How often any switch may still be evaluated, and how often they were. */
  fuel: number;
  asked: number;
  /** The active mutant was reached too often, or there is an endless loop. */
  overrun: boolean;
  /** How often each mutant was reached, while this is recorded. */
  met: Map<string, number> | undefined;
}

export const switches: Switches = {
  on: "",
  left: 0,
  fuel: Number.POSITIVE_INFINITY,
  asked: 0,
  overrun: false,
  met: undefined,
};

function isOn(id: string): boolean {
  switches.asked += 1;
  if (switches.asked > switches.fuel) {
    switches.overrun = true;
    throw new Error("asked too often");
  }
  if (id !== switches.on) return false;
  switches.left -= 1;
  if (switches.left >= 0) return true;
  switches.overrun = true;
  throw new Error("met too often");
}

/** Saved before a test replaces it. */
const { set } = Map.prototype;

function meet(...ids: string[]): void {
  const { met } = switches;
  if (met === undefined) return;
  for (const id of ids) set.call(met, id, (met.get(id) ?? 0) + 1);
}

/** Puts the switches where the instrumented sources look for them. */
export function installSwitches(): void {
  Object.assign(globalThis, { rondoMutantIsOn: isOn, rondoMutantsMet: meet });
}
