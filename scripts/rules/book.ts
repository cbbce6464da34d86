// The room of the rule book: the numbered rules of a behaviour file, and their names.
//
// A letter has sections (`## E4. Display`), and rule numbers are continuous across its sections (`20. …`), so a rule is
// named by section and number: `E4.20`. The section adds no information, but must be right: a name with the
// wrong one was meant for another rule.

export interface NumberedRule {
  /** Canonical: `E4.20`. */
  id: string;
  letter: string;
  number: number;
  /** Its text, on one line. */
  text: string;
}

/**
 * The rules of a behaviour file, in order.
 * @throws Error when it has none, or a number occurs twice in one letter
 */
export function readBook(source: string): NumberedRule[] {
  const rules = new Map<string, NumberedRule>();
  let section = "";
  for (const line of source.split(/\r?\n/)) {
    if (line.startsWith("#")) {
      section = /^#+ +([A-Z]\d*)\. /.exec(line)?.[1] ?? "";
      continue;
    }
    const item = /^(\d+)\. +(.*)$/.exec(line);
    if (item === null || section === "") continue;
    const [letter = ""] = section;
    const number = Number(item[1]);
    const key = `${letter}.${number}`;
    const id = `${section}.${number}`;
    if (rules.has(key))
      throw new Error(`rule ${number} of ${letter} is there twice: ${rules.get(key)?.id}, ${id}`);
    rules.set(key, { id, letter, number, text: item[2] ?? "" });
  }
  if (rules.size === 0) throw new Error("no numbered rules were found (sections `## E4. …`, items `20. …`)");
  return [...rules.values()];
}

/** A rule as named in a test's title. */
export interface Mention {
  /** As written. */
  written: string;
  /** The rule that is meant, if it exists. */
  rule?: NumberedRule;
  /** Whether it is written in canonical form. */
  canonical: boolean;
}

/** The rules that a test's name mentions. `E.20` means E4.20 and counts, as does `E4.20`; `E3.20` means nothing. */
export function mentionsIn(name: string, rules: readonly NumberedRule[]): Mention[] {
  const letters = new Set(rules.map((rule) => rule.letter));
  const mentions = new Map<string, Mention>();
  for (const [written, section = "", digits] of name.matchAll(
    /(?<![\w.-])([A-Z]\d*)\.(\d+)(?![\w-]|\.\d)/g,
  )) {
    const [letter = ""] = section;
    if (!letters.has(letter) || mentions.has(written)) continue;
    const rule = rules.find((one) => one.letter === letter && one.number === Number(digits));
    const fits = rule !== undefined && (section === letter || rule.id === `${section}.${rule.number}`);
    mentions.set(written, { written, canonical: rule?.id === written, ...(fits ? { rule } : {}) });
  }
  return [...mentions.values()];
}

/** Rules without anything to test, with the reason: lines of `rule<TAB>reason`. At most ten. */
export function readExempt(
  source: string,
  rules: readonly NumberedRule[],
): { exempt: Map<string, string>; wrong: string[] } {
  const exempt = new Map<string, string>();
  const wrong: string[] = [];
  for (const line of source.split(/\r?\n/)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [id = "", reason = ""] = line.split("\t");
    if (!rules.some((rule) => rule.id === id))
      wrong.push(`rules-exempt.tsv: there is no rule ${JSON.stringify(id)}`);
    else if (reason.trim() === "") wrong.push(`rules-exempt.tsv: ${id} has no reason behind a tab`);
    else exempt.set(id, reason.trim());
  }
  if (exempt.size > 10) wrong.push(`rules-exempt.tsv: ${exempt.size} rules are exempt, at most 10 may be`);
  return { exempt, wrong };
}
