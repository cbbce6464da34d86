// The room of source rules: rules beyond a linter's, checked on the syntax tree, so that comments and strings never count
// as code.
//
// The loop's pure files must not use a clock, randomness or the outside world, nor wait: everything they need is in the
// records. Otherwise replay, resume and fork would differ from the original run.

import { dirname, join } from "node:path";
import { childrenOf, isNode, type Node, parse } from "./syntax.ts";

/** The line on which a node begins, in words: `line 3`. */
const lineOf = (text: string, { start }: Node): string => `line ${text.slice(0, start).split("\n").length}`;

export interface Specifier {
  value: string;
  /** Its position in the text, quotes included. */
  start: number;
  end: number;
}

/** Every module specifier in a source: imports, re-exports, dynamic and type imports, `require`. */
export function specifiersOf(text: string, path: string): Specifier[] {
  const found: Specifier[] = [];
  const add = (source: unknown): void => {
    if (isNode(source) && typeof source.value === "string")
      found.push({ value: source.value, start: source.start, end: source.end });
    // `import("x").T` has its string one level deeper.
    else if (isNode(source) && source.type === "TSLiteralType") add(source.literal);
  };
  const visit = (node: Node): void => {
    if (/^(Import(Declaration|Expression)|Export(Named|All)Declaration|TSImportType)$/.test(node.type))
      add(node.source ?? node.argument);
    if (node.type === "TSExternalModuleReference") add(node.expression);
    const callee = node.callee;
    if (node.type === "CallExpression" && isNode(callee) && callee.name === "require")
      add((node.arguments as unknown[])[0]);
    childrenOf(node).forEach(visit);
  };
  visit(parse(text, path));
  return found.sort((a, b) => a.start - b.start);
}

/**
 * Import cycles, each as its list of files. Type-only and dynamic imports count: two files that can only be understood
 * together should be one.
 * @param sources texts by path; imports of other files are ignored
 */
export function circlesIn(sources: ReadonlyMap<string, string>): string[] {
  const ways = new Map<string, string[]>();
  for (const [path, text] of sources)
    ways.set(
      path,
      specifiersOf(text, path)
        .filter(({ value }) => value.startsWith("."))
        .map(({ value }) => join(dirname(path), value))
        .filter((to) => sources.has(to)),
    );
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, before: readonly string[]): void => {
    const at = before.indexOf(path);
    if (at !== -1) circles.push([...before.slice(at), path].join(" → "));
    if (at !== -1 || done.has(path)) return;
    for (const to of ways.get(path) ?? []) walk(to, [...before, path]);
    done.add(path);
  };
  for (const path of ways.keys()) walk(path, []);
  return circles;
}

/**
 * Dynamic imports of a variable without the comment that tells bundlers to ignore them: webpack and its users (Next.js) would
 * warn about each in every build.
 * @returns each as `line 3: import(name)`
 */
export function unmarkedImportsOf(text: string, path: string): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    if (node.type === "ImportExpression" && isNode(node.source) && node.source.type !== "Literal") {
      const said = text.slice(node.start, node.source.start);
      if (!said.includes("webpackIgnore: true") || !said.includes("@vite-ignore"))
        found.push(`${lineOf(text, node)}: ${text.slice(node.start, node.end)}`);
    }
    childrenOf(node).forEach(visit);
  };
  visit(parse(text, path));
  return found;
}

/** Globals that give access to the outside world: clock, randomness, timers, network. */
const worldly = new Set([
  ...["Date", "performance", "crypto", "fetch", "globalThis", "process", "Promise"],
  ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "XMLHttpRequest", "WebSocket"],
]);

/** TypeScript nodes that wrap an expression; all other TS nodes are types, which have no effect. */
const typedExpressions = new Set([
  ...["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion"],
  "TSInstantiationExpression",
]);

/** Everything impure in a source, each as `line 3: await`. Empty for a pure one. */
export function impuritiesOf(text: string, path: string): string[] {
  const found: string[] = [];
  const say = (node: Node, what: string): void => {
    found.push(`${lineOf(text, node)}: ${what}`);
  };
  const visit = (node: Node): void => {
    if (node.type.startsWith("TS")) {
      if (typedExpressions.has(node.type) && isNode(node.expression)) visit(node.expression);
      return;
    }
    if (node.type === "AwaitExpression" || node.await === true) say(node, "await");
    if (node.async === true) say(node, "async");
    if (node.type === "ImportExpression") say(node, "import()");
    if (node.type === "Identifier" && worldly.has(String(node.name))) say(node, String(node.name));
    if (node.type === "MemberExpression") {
      const { object, property } = node as unknown as { object: Node; property: Node };
      const name = property.name ?? property.value;
      if (object.name === "Math" && name === "random") say(node, "Math.random");
      visit(object);
      if (node.computed === true) visit(property);
      return;
    }
    if (/^(Property|PropertyDefinition|MethodDefinition)$/.test(node.type)) {
      if (node.computed === true && isNode(node.key)) visit(node.key);
      if (isNode(node.value)) visit(node.value);
      return;
    }
    childrenOf(node).forEach(visit);
  };
  visit(parse(text, path));
  return found;
}

const isFunction = (node: unknown): boolean =>
  isNode(node) && (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression");

/**
 * Functions that V8 allocates in its old generation: those assigned directly to a member (`this.x = () => …`), and accessors
 * of an object literal. Everything reachable from them survives all collections of the young generation, dead or not, until
 * a full one: created once per step, they make a process keep everything it touched meanwhile. Named functions, class fields
 * and class accessors are not affected. What a module creates once while loading does no harm.
 * @returns each as `line 3: this.#wake = …`
 */
export function oldSpaceFunctionsOf(text: string, path: string): string[] {
  const found: string[] = [];
  const say = (node: Node, what: string): void => {
    found.push(`${lineOf(text, node)}: ${what}`);
  };
  const visit = (node: Node, inFunction: boolean): void => {
    const { left, right } = node;
    if (inFunction && node.type === "AssignmentExpression" && isNode(left))
      if (left.type === "MemberExpression" && isFunction(right))
        say(node, `${text.slice(left.start, left.end)} = …`);
    if (inFunction && node.type === "ObjectExpression")
      for (const one of node.properties as Node[])
        if (one.kind === "get" || one.kind === "set") say(one, `an accessor of a literal`);
    const inside = inFunction || isFunction(node) || node.type === "FunctionDeclaration";
    for (const child of childrenOf(node)) visit(child, inside);
  };
  visit(parse(text, path), false);
  return found;
}
