// The room of words: what single words mean to the planner. Data only; grammar is in `grammar.ts`.

/** A set of words, given as lists of words with a space between them. */
export const wordSet = (...lists: readonly string[]): ReadonlySet<string> =>
  new Set(lists.flatMap((list) => list.split(" ")));

/** What can be counted, listed or measured. */
export type Unit =
  | "file"
  | "folder"
  | "entry"
  | "line"
  | "word"
  | "character"
  | "byte"
  | "match"
  | "function"
  | "class"
  | "interface"
  | "type"
  | "heading"
  | "export"
  | "import";

/** Stems by unit. */
const unitWords: Record<Unit, string> = {
  file: "file document",
  folder: "folder directory dir subfolder subdirectory subdir",
  entry: "entry item thing",
  line: "line loc row",
  word: "word",
  character: "character char letter",
  byte: "byte kilobyte kb size",
  match: "match occurrence time mention hit instance usage reference occurence",
  function: "function method func fn subroutine procedure",
  class: "class",
  interface: "interface",
  type: "type",
  heading: "heading section chapter headline",
  export: "export",
  import: "import",
};

export const units: ReadonlyMap<string, Unit> = new Map(
  Object.entries(unitWords).flatMap(([unit, words]) =>
    words.split(" ").map((word) => [word, unit as Unit] as const),
  ),
);

export interface Language {
  name: string;
  /** File name extensions without the dot, the usual one first. */
  endings: readonly string[];
}

const language = (name: string, endings: string): Language => ({ name, endings: endings.split(" ") });

const typescript = language("TypeScript", "ts tsx mts cts");
const javascript = language("JavaScript", "js jsx mjs cjs");
const markdown = language("Markdown", "md markdown mdx");
const yaml = language("YAML", "yml yaml");
const cpp = language("C++", "cpp cc cxx hpp hh hxx");
const shell = language("shell", "sh bash zsh");
const text = language("text", "txt");
const csharp = language("C#", "cs");

/** By lower-case name. */
export const languages: ReadonlyMap<string, Language> = new Map([
  ["typescript", typescript],
  ["javascript", javascript],
  ["markdown", markdown],
  ["python", language("Python", "py pyi")],
  ["json", language("JSON", "json")],
  ["jsonl", language("JSON Lines", "jsonl")],
  ["yaml", yaml],
  ["yml", yaml],
  ["toml", language("TOML", "toml")],
  ["rust", language("Rust", "rs")],
  ["go", language("Go", "go")],
  ["golang", language("Go", "go")],
  ["java", language("Java", "java")],
  ["kotlin", language("Kotlin", "kt kts")],
  ["swift", language("Swift", "swift")],
  ["ruby", language("Ruby", "rb")],
  ["php", language("PHP", "php")],
  ["c", language("C", "c h")],
  ["c++", cpp],
  ["cpp", cpp],
  ["c#", csharp],
  ["csharp", csharp],
  ["html", language("HTML", "html htm")],
  ["css", language("CSS", "css")],
  ["scss", language("SCSS", "scss")],
  ["sql", language("SQL", "sql")],
  ["shell", shell],
  ["bash", shell],
  ["text", text],
  ["txt", text],
  ["csv", language("CSV", "csv")],
  ["xml", language("XML", "xml")],
  ["svg", language("SVG", "svg")],
  ["lua", language("Lua", "lua")],
  ["vue", language("Vue", "vue")],
  ["image", language("image", "png jpg jpeg gif svg webp ico")],
]);

/** Extensions that make `name.extension` a path and `.extension` a filter. */
export const endings: ReadonlySet<string> = new Set([
  ...[...languages.values()].flatMap((one) => one.endings),
  ..."ini cfg conf log lock pdf zip gz tgz tar bin wasm map snap proto graphql dart scala ex exs clj hs ml r jl pl m mm zig nim tf rst adoc tex bat ps1 diff patch out tmp bak sqlite db".split(
    " ",
  ),
]);

/** Names of things that only look like files. */
export const notPaths: ReadonlySet<string> = wordSet(
  "node.js next.js vue.js nuxt.js express.js three.js d3.js react.js deno.js asp.net e.g i.e etc",
);

/** Files whose names have no extension. */
export const bareFiles: ReadonlySet<string> = wordSet(
  "readme makefile dockerfile changelog contributing gemfile rakefile procfile justfile",
);

/** Words for the tools' own folder. */
export const hereWords: ReadonlySet<string> = wordSet(
  "here project repo repository workspace codebase root cwd tree code source sources",
);

/** Words that cannot be a place, a name or a modifier by themselves. */
export const fillers: ReadonlySet<string> = wordSet(
  "a an the this that these those my our your its their it them they i me you we he she some any all each every both more most least other",
  "total many much number count amount one two first last top few several different whole entire full exact exactly",
  "is are was be been being do does did has have had having can could would should will may might must please there here",
  "per in on at of to from for with within inside under below beneath into by as about and or but not no nor so if than then also too just only",
  "what which who where when why how tell say show give list find count name print read display get see look know let us me need want like",
  "contain contains containing hold holds include includes including exist exists existing located living live lives named called inside",
  "directly recursively overall altogether together combined currently now really actually contents content general order alphabetical",
  "long big large short small deep size length version detail details english short summary words lines bytes files folders directories",
  "up down out off over it's what's there's i'd i'm repo project distinct separate of present available found available different source regular plain actual",
);

/** Modifiers of files that no tool here can judge: ignoring them would answer a different question. */
export const unknowable: ReadonlySet<string> = wordSet(
  "empty recent recently modified changed new newest old oldest latest unused duplicate duplicated",
  "executable large big small huge tiny broken important interesting best worst stale dead uncommitted",
  "untracked staged binary",
);

const numberWords =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const tens: ReadonlyMap<string, number> = new Map(
  "twenty thirty forty fifty sixty seventy eighty ninety".split(" ").map((word, at) => [word, 20 + 10 * at]),
);

/** The number a single word or numeral means: `12`, `1,200`, `ten`, `twenty-five`. */
export function numberOf(lower: string): number | undefined {
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(lower)) return Number(lower.replaceAll(",", ""));
  if (/^\d+(\.\d+)?$/.test(lower)) return Number(lower);
  const small = numberWords.indexOf(lower);
  if (small >= 0) return small;
  const [ten, one] = lower.split("-");
  const high = tens.get(ten ?? "");
  if (one === undefined) return high;
  const low = numberWords.indexOf(one);
  return high !== undefined && low > 0 && low < 10 ? high + low : undefined;
}

const ordinals = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");

/** The number of an ordinal: `third`, `3rd`, `21st`. */
export function ordinalOf(lower: string): number | undefined {
  const numeral = /^(\d+)(st|nd|rd|th)$/.exec(lower);
  if (numeral !== null) return Number(numeral[1]);
  const at = ordinals.indexOf(lower);
  return at < 0 ? undefined : at + 1;
}

/** Words that lead to a place, or to a thing. */
export const prepositions: ReadonlySet<string> = wordSet(
  "in under inside within across from anywhere throughout among below at on of to for with by into",
);

/** What something does, or what is done to it, in a place. */
export const happenings: ReadonlySet<string> = wordSet(
  "appear occur happen exist used mentioned defined declared implemented called imported referenced",
  "exported found present come show appearing occurring occurre written set documented described",
  "invoked instantiated handled",
);
