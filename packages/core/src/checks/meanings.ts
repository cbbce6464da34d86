// The room of meanings: a table of other loops' names, and what does the same here.

/** What does the same here, by the name in lower case, without marks. Built on first use, which is rare. */
export type Words = () => Readonly<Record<string, string>>;

export const wordsOf = (all: () => [string, string][]): Words => {
  let made: Readonly<Record<string, string>> | undefined;
  return () => {
    made ??= Object.fromEntries(all());
    return made;
  };
};

export const wordFor = (name: string, words: Words): string | undefined =>
  Object.hasOwn(words(), plain(name)) ? words()[plain(name)] : undefined;

/** One meaning, and its names: `maxTurns` and `max_turns` count as one. */
export const meaning = (here: string, ...names: readonly string[]): [string, string][] =>
  names.map((name) => [plain(name), here]);

const plain = (name: string): string => name.toLowerCase().replace(/^experimental_|[^a-z0-9]/g, "");

/** The hint for an option with another name here; undefined if no other library has this name. */
export function saying(all: () => [string, string][]): (name: string) => string | undefined {
  const words = wordsOf(all);
  return (name) => {
    const here = wordFor(name, words);
    return here === undefined ? undefined : `there is no such option; here it is ${here}`;
  };
}
