// The room of assertions: whether a test asserts anything, according to its source.
//
// A report says that a test passed, not that it checked anything. So its source is parsed, and the test with that title
// must contain an assertion: `expect(…)` (or `expect.soft`, `expect.poll`) with a matcher, about something that is not a
// literal. An assertion in a function of the same file that the test calls counts; one in another file does not, as it
// is not parsed.

import { childrenOf, isNode, type Node, parse } from "../syntax.ts";

function some(node: Node, test: (node: Node) => boolean): boolean {
  return test(node) || childrenOf(node).some((child) => some(child, test));
}

interface TestInSource {
  /** Matches its possible titles: values filled in at run time match anything. */
  title: RegExp;
  /** Number of characters of the title that are literal in the source: the more, the more reliable a match. */
  certain: number;
  asserts: boolean;
}

/** Whether the tests of a file assert anything, by title. Undefined: the source has no such test. */
export function assertionsOf(source: string, path: string): (title: string) => boolean | undefined {
  const program = parse(source, path);
  const asserting = assertingFunctions(program);
  const tests: TestInSource[] = [];
  const visit = (node: Node): void => {
    const found = testIn(node, asserting);
    if (found !== undefined) tests.push(found);
    childrenOf(node).forEach(visit);
  };
  visit(program);
  return (title) =>
    tests.filter((one) => one.title.test(title)).sort((one, other) => other.certain - one.certain)[0]
      ?.asserts;
}

/** A call of `test` or `it`, also through `.each(…)` and the like. */
function testIn(node: Node, asserting: ReadonlySet<string>): TestInSource | undefined {
  if (node.type !== "CallExpression") return undefined;
  const [title, ...rest] = node.arguments as Node[];
  const pieces = title === undefined ? undefined : piecesOf(title);
  if (pieces === undefined || rest.length === 0 || !["test", "it"].includes(rootOf(node.callee)))
    return undefined;
  const literal = pieces.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return {
    title: new RegExp(`^${literal.join("[\\s\\S]*")}$`),
    certain: pieces.join("").length,
    asserts: rest.some((one) => some(one, (inner) => isAssertion(inner) || callsOne(inner, asserting))),
  };
}

/** The literal pieces of a title, between the placeholders. */
function piecesOf(title: Node): string[] | undefined {
  if (title.type === "Literal" && typeof title.value === "string")
    return title.value.split(/%[sdifjoOc#$]|\$[A-Za-z_][\w.]*/).map((piece) => piece.replaceAll("%%", "%"));
  if (title.type !== "TemplateLiteral") return undefined;
  return (title.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked);
}

function rootOf(callee: unknown): string {
  if (!isNode(callee)) return "";
  if (callee.type === "Identifier") return String(callee.name);
  return rootOf(callee.type === "CallExpression" ? callee.callee : callee.object);
}

/** A matcher called on an `expect(…)`, possibly through `not` or `resolves`. */
function isAssertion(node: Node): boolean {
  if (node.type !== "CallExpression" || !isNode(node.callee) || node.callee.type !== "MemberExpression")
    return false;
  let inner = node.callee.object;
  while (isNode(inner) && inner.type === "MemberExpression") inner = inner.object;
  if (!isNode(inner) || inner.type !== "CallExpression" || !isExpect(inner.callee)) return false;
  const [about] = inner.arguments as Node[];
  return about !== undefined && about.type !== "Literal";
}

function isExpect(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  if (callee.type === "Identifier") return callee.name === "expect";
  if (callee.type !== "MemberExpression" || !isNode(callee.property)) return false;
  return isExpect(callee.object) && ["soft", "poll"].includes(String(callee.property.name));
}

function callsOne(node: Node, names: ReadonlySet<string>): boolean {
  const { callee } = node;
  return (
    node.type === "CallExpression" &&
    isNode(callee) &&
    callee.type === "Identifier" &&
    names.has(String(callee.name))
  );
}

/** Names of the file's own functions that assert, directly or through one another. */
function assertingFunctions(program: Node): Set<string> {
  const bodies = new Map<string, Node>();
  const visit = (node: Node): void => {
    const { id, init } = node;
    if (isNode(id) && node.type === "FunctionDeclaration") bodies.set(String(id.name), node);
    if (isNode(id) && isNode(init) && /^(Arrow)?FunctionExpression$/.test(init.type))
      bodies.set(String(id.name), init);
    childrenOf(node).forEach(visit);
  };
  visit(program);
  const names = new Set<string>();
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const [name, body] of bodies)
      if (some(body, (node) => isAssertion(node) || callsOne(node, names))) names.add(name);
  }
  return names;
}
