// The room of expressions: from text to a number, by recursive descent.
//
//   sum     = product (("+" | "-") product)*
//   product = sign (("*" | "/" | "%") sign)*
//   sign    = ("-" | "+") sign | power
//   power   = atom (("^" | "**") sign)?            right to left; binds more tightly than a sign: -2^2 is -4
//   atom    = number | name | name "(" sum ("," sum)* ")" | "(" sum ")"
//
// Numbers stay exact fractions as long as they can be; a function that has no exact answer makes them doubles, and
// from there on the result is said to be rounded.

import {
  add,
  compare,
  decimalOf,
  divide,
  exactRoot,
  floor,
  fromDecimal,
  isWhole,
  multiply,
  negate,
  power,
  type Rational,
  rational,
  remainder,
  subtract,
  TooLarge,
  toNumber,
  truncate,
} from "./rational.ts";

/** An exact fraction, or a double that was rounded. */
export type Value = Rational | number;

/** What is wrong with an expression. `at`: the 1-based character. */
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

const constants: Record<string, number> = {
  pi: Math.PI,
  π: Math.PI,
  tau: 2 * Math.PI,
  τ: 2 * Math.PI,
  e: Math.E,
};

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
          : `an operator is missing before ${JSON.stringify(text)}`,
        at,
      );
    return value;
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
        ? "the expression ends where a number is expected"
        : `a number is expected, not ${JSON.stringify(token.text)}`,
      token.at,
    );
  }

  #named(token: Token): Value {
    const name = token.text.toLowerCase();
    const open = this.#take("(");
    if (open === undefined) {
      if (Object.hasOwn(constants, name)) return constants[name]!;
      const hint = Object.hasOwn(functions, name) ? `; write ${name}(...)` : "";
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
          `${most === 1 ? "argument" : "arguments"}, not ${args.length}`,
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

/** Names the place of what goes wrong inside, and lets no NaN or infinity out. */
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

const numberOf = (value: Value): number => (typeof value === "number" ? value : toNumber(value));
const isZero = (value: Value): boolean => (typeof value === "number" ? value === 0 : value.top === 0n);

function operate(sign: Token, a: Value, b: Value): Value {
  return guarded(sign.at, () => {
    if ((sign.text === "/" || sign.text === "%") && isZero(b)) throw new RangeError("division by zero");
    if (sign.text === "^") return raise(a, b);
    if (typeof a === "number" || typeof b === "number") {
      const [x, y] = [numberOf(a), numberOf(b)];
      if (sign.text === "+") return x + y;
      if (sign.text === "-") return x - y;
      if (sign.text === "*") return x * y;
      return sign.text === "/" ? x / y : x % y;
    }
    if (sign.text === "+") return add(a, b);
    if (sign.text === "-") return subtract(a, b);
    if (sign.text === "*") return multiply(a, b);
    return sign.text === "/" ? divide(a, b) : remainder(a, b);
  });
}

function raise(a: Value, b: Value): Value {
  if (isZero(a) && numberOf(b) < 0) throw new RangeError("division by zero: zero to a negative power");
  if (typeof a !== "number" && typeof b !== "number") {
    if (isWhole(b)) return power(a, b.top);
    if (b.bottom === 2n && a.top >= 0n) {
      const root = exactRoot(a);
      if (root !== undefined) return power(root, b.top);
    }
  }
  return numberOf(a) ** numberOf(b);
}

interface Func {
  least: number;
  most: number;
  run(args: readonly Value[]): Value;
}

const real = (run: (x: number) => number): Func => ({ least: 1, most: 1, run: ([x]) => run(numberOf(x!)) });
const exactly = (run: (x: Rational) => Rational): Func => ({
  least: 1,
  most: 1,
  run: ([x]) => run(typeof x === "number" ? fromDecimal(String(x)) : x!),
});
/** Of a number that is exact where it is: `0` for `sin(0)`, not a rounded zero. */
const exactAt = (point: bigint, value: bigint, run: (x: number) => number): Func => ({
  least: 1,
  most: 1,
  run: ([x]) =>
    typeof x !== "number" && x!.bottom === 1n && x!.top === point ? rational(value) : run(numberOf(x!)),
});

const orderOf = (a: Value, b: Value): number =>
  typeof a === "number" || typeof b === "number" ? numberOf(a) - numberOf(b) : compare(a, b);
const half = rational(1n, 2n);

/** Half away from zero. */
const rounded = (x: Rational): Rational =>
  x.top < 0n ? negate(floor(add(negate(x), half))) : floor(add(x, half));

const functions: Record<string, Func> = {
  sqrt: {
    least: 1,
    most: 1,
    run: ([x]) => {
      if (numberOf(x!) < 0) throw new RangeError("the square root of a negative number is not real");
      return (typeof x === "number" ? undefined : exactRoot(x!)) ?? Math.sqrt(numberOf(x!));
    },
  },
  cbrt: real(Math.cbrt),
  abs: {
    least: 1,
    most: 1,
    run: ([x]) => (typeof x === "number" ? Math.abs(x) : x!.top < 0n ? negate(x!) : x!),
  },
  min: { least: 1, most: Infinity, run: (args) => args.reduce((a, b) => (orderOf(b, a) < 0 ? b : a)) },
  max: { least: 1, most: Infinity, run: (args) => args.reduce((a, b) => (orderOf(b, a) > 0 ? b : a)) },
  round: {
    least: 1,
    most: 2,
    run: ([x, digits = rational(0n)]) => {
      const places = numberOf(digits);
      if (!Number.isInteger(places) || Math.abs(places) > 100)
        throw new RangeError("the places to round to must be a whole number from -100 to 100");
      const scale = power(rational(10n), BigInt(places));
      const exact = typeof x === "number" ? fromDecimal(String(x)) : x!;
      return divide(rounded(multiply(exact, scale)), scale);
    },
  },
  floor: exactly(floor),
  ceil: exactly((x) => negate(floor(negate(x)))),
  trunc: exactly(truncate),
  sign: exactly((x) => rational(x.top > 0n ? 1n : x.top < 0n ? -1n : 0n)),
  log: {
    least: 1,
    most: 2,
    run: ([x, base]) => {
      const value = positive(x!, "log");
      if (base === undefined) return exactLog(x!, 10n) ?? Math.log10(value);
      const by = positive(base, "log");
      if (by === 1) throw new RangeError("there is no logarithm to the base 1");
      const whole = typeof base !== "number" && base.bottom === 1n ? exactLog(x!, base.top) : undefined;
      return whole ?? Math.log(value) / Math.log(by);
    },
  },
  log2: { least: 1, most: 1, run: ([x]) => exactLog(x!, 2n) ?? Math.log2(positive(x!, "log2")) },
  log10: { least: 1, most: 1, run: ([x]) => exactLog(x!, 10n) ?? Math.log10(positive(x!, "log10")) },
  ln: {
    least: 1,
    most: 1,
    run: ([x]) => {
      const value = positive(x!, "ln");
      return typeof x !== "number" && value === 1 ? rational(0n) : Math.log(value);
    },
  },
  exp: exactAt(0n, 1n, Math.exp),
  sin: exactAt(0n, 0n, Math.sin),
  cos: exactAt(0n, 1n, Math.cos),
  tan: exactAt(0n, 0n, Math.tan),
  asin: exactAt(0n, 0n, Math.asin),
  acos: exactAt(1n, 0n, Math.acos),
  atan: exactAt(0n, 0n, Math.atan),
};

function positive(value: Value, name: string): number {
  const number = numberOf(value);
  if (number <= 0) throw new RangeError(`${name} needs a positive number`);
  return number;
}

/** The logarithm where it is a whole number. */
function exactLog(value: Value, base: bigint): Rational | undefined {
  if (typeof value === "number" || base < 2n || value.top <= 0n) return undefined;
  const [large, sign] =
    value.bottom === 1n ? [value.top, 1n] : value.top === 1n ? [value.bottom, -1n] : [0n, 0n];
  if (large === 0n) return undefined;
  if (base > large) return large === 1n ? rational(0n) : undefined;
  // Guessed from the lengths, then tried: dividing again and again would take a second for a long number.
  const bits = (whole: bigint): number => whole.toString(2).length;
  const lead = (whole: bigint): number => {
    const extra = Math.max(0, bits(whole) - 53);
    return Math.log2(Number(whole >> BigInt(extra))) + extra;
  };
  const guess = BigInt(Math.round(lead(large) / lead(base)));
  return base ** guess === large ? rational(sign * guess) : undefined;
}

/** A value in words: `0.3`, `0.333... (exactly 1/3)`, `1.414... (rounded)`. */
export function say(value: Value): string {
  if (typeof value === "number") return `${Object.is(value, -0) ? 0 : value} (rounded)`;
  const decimal = decimalOf(value);
  if (decimal !== undefined) return decimal;
  const fraction = `${value.top}/${value.bottom}`;
  const near = toNumber(value);
  return `${near} (rounded; exactly ${fraction})`;
}
