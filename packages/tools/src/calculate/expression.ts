// The room of expressions: from text to a number, by recursive descent.
//
//   sum     = product (("+" | "-") product)*
//   product = sign (("*" | "/" | "%") sign)*
//   sign    = ("-" | "+") sign | power
//   power   = atom (("^" | "**") sign)?            right to left; binds more tightly than a sign: -2^2 is -4
//   atom    = number | name | name "(" sum ("," sum)* ")" | "(" sum ")"

import { constants, functions, operated, type Value } from "./arithmetic.ts";
import { fromDecimal, negate, TooLarge } from "./rational.ts";

/** An error in an expression. `at`: the 1-based character. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const maxLength = 2000;
const maxDepth = 100;

interface Token {
  kind: "number" | "name" | "sign" | "end";
  text: string;
  at: number;
}

/** The value of an expression. @throws ExpressionError */
export function evaluate(text: string): Value {
  if (text.length > maxLength)
    throw new ExpressionError(`the expression is longer than ${maxLength} characters`, maxLength + 1);
  return new Parser(tokensOf(text)).whole();
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /\s*(?:((?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z][A-Za-z0-9_]*|π|τ)|(\*\*|[-+*/%^(),−×·÷]))/uy;
  while (pattern.lastIndex < text.length) {
    const from = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      const at = from + (/^\s*/.exec(text.slice(from))?.[0].length ?? 0);
      if (at === text.length) break;
      const char = String.fromCodePoint(text.codePointAt(at)!);
      throw new ExpressionError(`${JSON.stringify(char)} is not understood here`, at + 1);
    }
    const [whole, number, name, sign] = match;
    const found = number ?? name ?? sign!;
    const at = from + whole.length - found.length + 1;
    if (number !== undefined) tokens.push({ kind: "number", text: number.replaceAll("_", ""), at });
    else if (name !== undefined) tokens.push({ kind: "name", text: name, at });
    else tokens.push({ kind: "sign", text: spelled[found] ?? found, at });
  }
  tokens.push({ kind: "end", text: "", at: text.length + 1 });
  return tokens;
}

const spelled: Record<string, string> = { "**": "^", "−": "-", "×": "*", "·": "*", "÷": "/" };

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Value {
    if (this.#tokens.length === 1) throw new ExpressionError("the expression is empty", 1);
    const value = this.#sum();
    const { kind, text, at } = this.#peek;
    if (kind !== "end")
      throw new ExpressionError(
        text === ")"
          ? 'there is no "(" for this ")"'
          : `an operator is missing before ${JSON.stringify(text)}${this.#comma}`,
        at,
      );
    return value;
  }

  /** A hint for a comma between digits. */
  get #comma(): string {
    const [before, comma, behind] = this.#tokens.slice(Math.max(0, this.#next - 1));
    const parts = before?.kind === "number" && comma?.text === "," && behind?.kind === "number";
    return parts ? "; a number has no commas in it" : "";
  }

  /** A hint for a % before this token, when the token is not a number. */
  #percent(token: Token): string {
    const before = this.#tokens[this.#tokens.indexOf(token) - 1];
    return before?.text === "%" ? "; % is the remainder, and 5 percent are 5 / 100" : "";
  }

  get #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #take(...signs: string[]): Token | undefined {
    const token = this.#peek;
    if (token.kind !== "sign" || !signs.includes(token.text)) return undefined;
    this.#next++;
    return token;
  }

  #sum(): Value {
    let value = this.#product();
    for (let sign = this.#take("+", "-"); sign !== undefined; sign = this.#take("+", "-"))
      value = operate(sign, value, this.#product());
    return value;
  }

  #product(): Value {
    let value = this.#sign();
    for (let sign = this.#take("*", "/", "%"); sign !== undefined; sign = this.#take("*", "/", "%"))
      value = operate(sign, value, this.#sign());
    return value;
  }

  #sign(): Value {
    const sign = this.#take("-", "+");
    if (sign === undefined) return this.#power();
    const value = this.#deeper(sign.at, () => this.#sign());
    if (sign.text === "+") return value;
    return typeof value === "number" ? -value : negate(value);
  }

  #power(): Value {
    const value = this.#atom();
    const sign = this.#take("^");
    if (sign === undefined) return value;
    return operate(
      sign,
      value,
      this.#deeper(sign.at, () => this.#sign()),
    );
  }

  #atom(): Value {
    const token = this.#peek;
    if (token.kind === "number") {
      this.#next++;
      return guarded(token.at, () => fromDecimal(token.text));
    }
    if (token.kind === "name") {
      this.#next++;
      return this.#named(token);
    }
    const open = this.#take("(");
    if (open !== undefined) {
      const value = this.#deeper(open.at, () => this.#sum());
      this.#close(open);
      return value;
    }
    throw new ExpressionError(
      token.kind === "end"
        ? `the expression ends where a number is expected${this.#percent(token)}`
        : `a number is expected, not ${JSON.stringify(token.text)}${this.#percent(token)}`,
      token.at,
    );
  }

  #named(token: Token): Value {
    const name = token.text.toLowerCase();
    const open = this.#take("(");
    if (open === undefined) {
      if (Object.hasOwn(constants, name)) return constants[name]!;
      const hint = Object.hasOwn(functions, name) ? `; write ${name}(...)` : this.#percent(token);
      throw new ExpressionError(`${JSON.stringify(token.text)} is not known${hint}`, token.at);
    }
    if (!Object.hasOwn(functions, name))
      throw new ExpressionError(
        `the function ${JSON.stringify(token.text)} is not known; there are ${Object.keys(functions).join(", ")}`,
        token.at,
      );
    const args: Value[] = [];
    if (this.#peek.text !== ")" || this.#peek.kind !== "sign")
      do args.push(this.#deeper(open.at, () => this.#sum()));
      while (this.#take(",") !== undefined);
    this.#close(open);
    const { least, most, run } = functions[name]!;
    if (args.length < least || args.length > most)
      throw new ExpressionError(
        `${name} takes ${least === most ? least : most === Infinity ? `at least ${least}` : `${least} or ${most}`} ` +
          `${most === 1 || most === Infinity ? "argument" : "arguments"}, not ${args.length}`,
        token.at,
      );
    return guarded(token.at, () => run(args));
  }

  #close(open: Token): void {
    if (this.#take(")") !== undefined) return;
    const { kind, text, at } = this.#peek;
    throw new ExpressionError(
      kind === "end"
        ? `the "(" at ${open.at} is not closed`
        : `a ")" or an operator is expected, not ${JSON.stringify(text)}`,
      at,
    );
  }

  #deeper(at: number, parse: () => Value): Value {
    if (++this.#depth > maxDepth) throw new ExpressionError(`more than ${maxDepth} levels deep`, at);
    const value = parse();
    this.#depth--;
    return value;
  }
}

/** Adds the position to errors from inside, and lets no NaN or infinity out. */
function guarded(at: number, run: () => Value): Value {
  try {
    const value = run();
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw new RangeError(Number.isNaN(value) ? "the result is not a real number" : "the result is too large");
  } catch (thrown) {
    if (thrown instanceof TooLarge || thrown instanceof RangeError)
      throw new ExpressionError(thrown.message, at);
    throw thrown;
  }
}

const operate = (sign: Token, a: Value, b: Value): Value => guarded(sign.at, () => operated(sign.text, a, b));
