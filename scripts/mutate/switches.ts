// The room of the switches: which mutant is on, and who met it.
//
// The instrumented sources ask here at every place that has mutants. It is plain and quick, for it is asked millions of
// times. A mutant that makes something run in circles is caught by its count: it throws once it was met far too often, or once
// the places of all mutants were.

export interface Switches {
  /** The mutant that is on; "" for none. */
  on: string;
  /** How often the mutant that is on may be met. */
  left: number;
  /** How often any switch may still be asked, and how often they were. */
  fuel: number;
  asked: number;
  /** The mutant that is on was met too often, or something runs in circles. */
  overrun: boolean;
  /** How often each mutant was met, while somebody looks. */
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

/** As it was before a test watched it. */
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
