// The room of the exports: everything a package exports, with signature and docstring, from the sources.
//
// Each source is converted to its declarations (with `isolatedDeclarations` that needs only the one file), and exports
// are followed from the package's entry to where they are declared. Nothing is type-checked or run.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isolatedDeclarationSync, parseSync } from "rolldown/experimental";
import type { Package } from "../packages.ts";

export interface Exported {
  name: string;
  kind: "class" | "function" | "interface" | "type" | "constant";
  /** The declaration, without bodies; with all overloads. */
  signature: string;
  /** The text of the docstring, without comment markers. Empty if there is none. */
  doc: string;
  /** The source it is declared in, relative to the package's `src`. */
  room: string;
  /** What to import: the package's name, or one of its other entries. */
  entry: string;
}

/** A declaration in a file. */
interface Declared {
  kind: Exported["kind"];
  signature: string;
  doc: string;
}

type Passed = { from: string; name: string };

interface Module {
  declared: Map<string, Declared>;
  /** Names that are re-exported from another file. */
  passed: Map<string, Passed>;
  imported: Map<string, Passed>;
  /** Names in the order of the file. */
  order: (string | { all: string })[];
}

/** The parts of a syntax tree that are used here. */
interface Syntax {
  type: string;
  start: number;
  end: number;
  declaration?: Syntax | null;
  declarations?: { id: { name: string } }[];
  id?: { name?: string } | null;
  source?: { value: string } | null;
  specifiers?: { local: Named; exported?: Named; imported?: Named }[];
}
type Named = { name?: string; value?: string };

const textOf = ({ name, value }: Named): string => name ?? value ?? "";

const modules = new Map<string, Module>();

/** Everything a package exports, in the order of its entries. */
export function exportsOf({ name, folder, manifest }: Package): Exported[] {
  const found: Exported[] = [];
  const src = join(folder, "src");
  for (const [entry, target] of Object.entries(manifest.exports ?? {})) {
    const source = typeof target === "string" ? undefined : target["rondo-source"];
    if (source === undefined) continue;
    for (const [exported, place] of namesOf(join(folder, source))) {
      if (found.some((one) => one.name === exported)) continue;
      const declared = moduleAt(place.from).declared.get(place.name);
      if (declared === undefined)
        throw new Error(
          `${relative(folder, place.from)} does not declare ${place.name}, which ${name} exports`,
        );
      found.push({
        name: exported,
        ...declared,
        room: relative(src, place.from).replaceAll("\\", "/"),
        entry: `${name}${entry.slice(1)}`,
      });
    }
  }
  return found;
}

/** The head comment of a source: the rule of its room. */
export function ruleOf(file: string): string {
  const lines: string[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (!line.startsWith("//")) break;
    lines.push(line.replace(/^\/\/ ?/, ""));
  }
  return lines.join("\n").trim();
}

/** The names a file exports, with where each is declared. */
function namesOf(file: string): Map<string, Passed> {
  const names = new Map<string, Passed>();
  const { order, passed } = moduleAt(file);
  for (const one of order) {
    if (typeof one !== "string") {
      for (const [name, place] of namesOf(one.all)) if (!names.has(name)) names.set(name, place);
      continue;
    }
    const further = passed.get(one);
    const place = further === undefined ? { from: file, name: one } : namesOf(further.from).get(further.name);
    if (place !== undefined) names.set(one, place);
  }
  return names;
}

function moduleAt(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const { code, errors } = isolatedDeclarationSync(file, readFileSync(file, "utf8"), {});
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join("; ")}`);
  const made: Module = { declared: new Map(), passed: new Map(), imported: new Map(), order: [] };
  modules.set(file, made);
  const statements = parseSync("declarations.d.ts", code, {}).program.body as unknown as Syntax[];
  let before = 0;
  for (const statement of statements) {
    readStatement(made, file, code, statement, code.slice(before, statement.start));
    before = statement.end;
  }
  return made;
}

function readStatement(module: Module, file: string, code: string, statement: Syntax, above: string): void {
  const { type, source, specifiers = [], declaration } = statement;
  if (type === "ImportDeclaration") {
    for (const { local, imported } of source?.value.startsWith(".") ? specifiers : [])
      if (imported !== undefined)
        module.imported.set(textOf(local), {
          from: sourceAt(file, source?.value ?? ""),
          name: textOf(imported),
        });
    return;
  }
  if (source && !source.value.startsWith(".")) {
    for (const { local, exported = local } of specifiers) {
      const signature = `export { ${textOf(local)} } from "${source.value}"`;
      module.declared.set(textOf(exported), { kind: "constant", signature, doc: "" });
      module.order.push(textOf(exported));
    }
    return;
  }
  const from = source ? sourceAt(file, source.value) : file;
  if (type === "ExportAllDeclaration") module.order.push({ all: from });
  else if (type === "ExportNamedDeclaration" && declaration) {
    const text = code.slice(statement.start, statement.end);
    for (const name of namesIn(declaration)) declare(module, name, declaration, text, above);
  } else if (type === "ExportNamedDeclaration")
    for (const { local, exported = local } of specifiers) {
      const name = textOf(exported);
      const imported = module.imported.get(textOf(local));
      if (from !== file) module.passed.set(name, { from, name: textOf(local) });
      else if (imported !== undefined) module.passed.set(name, imported);
      module.order.push(name);
    }
  else for (const name of namesIn(statement)) keep(module, name, statement, code, above);
}

/** Keeps a declaration that another statement may export. */
function keep(module: Module, name: string, statement: Syntax, code: string, above: string): void {
  const text = `export ${code.slice(statement.start, statement.end)}`;
  if (!module.declared.has(name)) module.declared.set(name, declaredAs(statement, text, above));
}

function declare(module: Module, name: string, declaration: Syntax, text: string, above: string): void {
  const one = declaredAs(declaration, text, above);
  const before = module.declared.get(name);
  if (before === undefined) module.order.push(name);
  module.declared.set(
    name,
    before === undefined
      ? one
      : { ...before, signature: `${before.signature}\n${one.signature}`, doc: before.doc || one.doc },
  );
}

function declaredAs(declaration: Syntax, text: string, above: string): Declared {
  const kinds: Readonly<Record<string, Exported["kind"]>> = {
    ClassDeclaration: "class",
    TSDeclareFunction: "function",
    FunctionDeclaration: "function",
    TSInterfaceDeclaration: "interface",
    TSTypeAliasDeclaration: "type",
  };
  const doc = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(above)?.[1] ?? "";
  return {
    kind: kinds[declaration.type] ?? "constant",
    signature: tidy(text),
    doc: doc.replaceAll(/^[ \t]*\*[ \t]?/gm, "").trim(),
  };
}

function namesIn(declaration: Syntax): string[] {
  if (declaration.declarations) return declaration.declarations.map(({ id }) => id.name);
  return declaration.id?.name === undefined ? [] : [declaration.id.name];
}

/** Makes declarations readable: no `declare`, no private members, two spaces. */
const tidy = (text: string): string =>
  text
    .replace(/^export (declare )?(default )?/, "")
    .split("\n")
    .filter((line) => !/^\s*(#private;|private )/.test(line))
    .join("\n")
    .replaceAll("\t", "  ")
    .replaceAll(/^( *)\*(?=[ /])/gm, "$1 *");

/** The path of a file that another one imports by a relative path. */
const sourceAt = (file: string, specifier: string): string => join(dirname(file), specifier);
