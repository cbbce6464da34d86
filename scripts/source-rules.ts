// The room of what a source may say: rules a linter has no words for, asked of the syntax tree, so that a comment or a
// text never counts as code.
//
// The loop's pure rooms must not look at a clock, at chance or at the world, nor wait: whatever they need to know stands
// in records. Else replay, resume and fork would come out differently from the run they repeat.

import { dirname, join } from "node:path";
import { childrenOf, isNode, type Node, parse } from "./syntax.ts";

export interface Specifier {
  value: string;
  /** Where it stands in the text, quotes included. */
  start: number;
  end: number;
}

/** Every module a source names: imports, exports from, dynamic and type imports, `require`. */
export function specifiersOf(text: string, path: string): Specifier[] {
  const found: Specifier[] = [];
  const add = (source: unknown): void => {
    if (isNode(source) && typeof source.value === "string")
      found.push({ value: source.value, start: source.start, end: source.end });
    // `import("x").T` holds its text one level down.
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
 * Circles of imports, each as the files on its way. Types count, and what is loaded late: who must know two files to
 * understand one has one room.
 * @param sources texts by path; imports that lead elsewhere are passed over
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
 * Imports of what a variable names, where no comment tells a bundler to leave them alone: webpack and what stands on it (Next.js) warn of each in
 * every build of every user.
 * @returns each as `line 3: import(name)`
 */
export function unmarkedImportsOf(text: string, path: string): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    if (node.type === "ImportExpression" && isNode(node.source) && node.source.type !== "Literal") {
      const said = text.slice(node.start, node.source.start);
      if (!said.includes("webpackIgnore: true") || !said.includes("@vite-ignore"))
        found.push(
          `line ${text.slice(0, node.start).split("\n").length}: ${text.slice(node.start, node.end)}`,
        );
    }
    childrenOf(node).forEach(visit);
  };
  visit(parse(text, path));
  return found;
}

/** Names of the world outside: the clock, chance, timers, the network, and the doors to all of these. */
const worldly = new Set([
  ...["Date", "performance", "crypto", "fetch", "globalThis", "process", "Promise"],
  ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "XMLHttpRequest", "WebSocket"],
]);

/** Wrappers of TypeScript that hold an expression; every other TS node holds types, which do nothing. */
const typedExpressions = new Set([
  ...["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion"],
  "TSInstantiationExpression",
]);

/** What in a source is not pure, each as `line 3: await`. Empty for a pure one. */
export function impuritiesOf(text: string, path: string): string[] {
  const found: string[] = [];
  const say = (node: Node, what: string): void => {
    found.push(`line ${text.slice(0, node.start).split("\n").length}: ${what}`);
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
 * Functions that V8 makes in its old space: those written straight into a member (`this.x = () => …`), and accessors of
 * a literal. Whatever one can reach outlives every collection of the young objects until a full one comes, dead or not:
 * made once a step, a whole process keeps all it ever touched in between. A function with a name of its own, a field of a
 * class and a class's accessor do not. What a module makes once as it loads does no harm.
 * @returns each as `line 3: this.#wake = …`
 */
export function oldSpaceFunctionsOf(text: string, path: string): string[] {
  const found: string[] = [];
  const say = (node: Node, what: string): void => {
    found.push(`line ${text.slice(0, node.start).split("\n").length}: ${what}`);
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
