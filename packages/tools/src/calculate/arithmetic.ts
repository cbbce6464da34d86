// The room of arithmetic: operators and functions on numbers.
//
// Numbers stay exact fractions as long as possible. A function without an exact answer returns a double, and from there
// on the result is marked as rounded, unless it is rounded to places that a double of its size can hold.

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
  scaled,
  subtract,
  toNumber,
  truncate,
} from "./rational.ts";

/** An exact fraction, or a rounded double. */
export type Value = Rational | number;

export const constants: Readonly<Record<string, number>> = {
  pi: Math.PI,
  π: Math.PI,
  tau: 2 * Math.PI,
  τ: 2 * Math.PI,
  e: Math.E,
};

const numberOf = (value: Value): number => (typeof value === "number" ? value : toNumber(value));
const isZero = (value: Value): boolean => (typeof value === "number" ? value === 0 : value.top === 0n);
/** A double so large has no decimal places: it is a whole number, but still rounded. */
const isCoarse = (value: Value): boolean =>
  typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
/** Outside the range of doubles, or of those with full precision. */
const isBeyond = (value: Value): value is Rational => {
  if (typeof value === "number" || value.top === 0n) return false;
  const size = Math.abs(toNumber(value));
  return size > 1e300 || size < 1e-300;
};

/** Applies an operator. @throws RangeError, TooLarge */
export function operated(sign: string, a: Value, b: Value): Value {
  if ((sign === "/" || sign === "%") && isZero(b)) throw new RangeError("division by zero");
  if (sign === "^") return raise(a, b);
  if (typeof a === "number" || typeof b === "number") {
    const [x, y] = [numberOf(a), numberOf(b)];
    if (sign === "+") return x + y;
    if (sign === "-") return x - y;
    if (sign === "*") return x * y;
    return sign === "/" ? x / y : x % y;
  }
  if (sign === "+") return add(a, b);
  if (sign === "-") return subtract(a, b);
  if (sign === "*") return multiply(a, b);
  return sign === "/" ? divide(a, b) : remainder(a, b);
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

const exactly = (run: (x: Rational) => Rational): Func => ({
  least: 1,
  most: 1,
  run: ([x]) => (isCoarse(x!) ? x! : run(exactOf(x!))),
});
const exactOf = (value: Value): Rational => (typeof value === "number" ? fromDecimal(String(value)) : value);
/** A function that is exact at one point: `sin(0)` is `0`, not a rounded zero. */
const exactAt = (point: bigint, value: bigint, run: (x: number) => number): Func => ({
  least: 1,
  most: 1,
  run: ([x]) =>
    typeof x !== "number" && x!.bottom === 1n && x!.top === point ? rational(value) : run(numberOf(x!)),
});

const orderOf = (a: Value, b: Value): number =>
  typeof a === "number" || typeof b === "number" ? numberOf(a) - numberOf(b) : compare(a, b);
const zero = rational(0n);
const one = rational(1n);
const half = rational(1n, 2n);

/** Half away from zero. */
const rounded = (x: Rational): Rational =>
  x.top < 0n ? negate(floor(add(negate(x), half))) : floor(add(x, half));

/** The functions an expression may call. They throw RangeError and TooLarge. */
export const functions: Readonly<Record<string, Func>> = {
  sqrt: {
    least: 1,
    most: 1,
    run: ([x]) => {
      if (orderOf(x!, zero) < 0) throw new RangeError("the square root of a negative number is not real");
      return (typeof x === "number" ? undefined : exactRoot(x!)) ?? root(x!, 2, Math.sqrt);
    },
  },
  cbrt: { least: 1, most: 1, run: ([x]) => root(x!, 3, Math.cbrt) },
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
    run: ([x, digits = zero]) => {
      const places = numberOf(digits);
      if (!Number.isInteger(places) || Math.abs(places) > 100)
        throw new RangeError("the places to round to must be a whole number from -100 to 100");
      const scale = power(rational(10n), BigInt(places));
      const result = divide(rounded(multiply(exactOf(x!), scale)), scale);
      return isCoarse(x!) ? toNumber(result) : result;
    },
  },
  floor: exactly(floor),
  ceil: exactly((x) => negate(floor(negate(x)))),
  trunc: exactly(truncate),
  sign: { least: 1, most: 1, run: ([x]) => rational(BigInt(Math.sign(orderOf(x!, zero)))) },
  log: {
    least: 1,
    most: 2,
    run: ([x, base]) => {
      if (base === undefined) return exactLog(x!, 10n) ?? logarithm(x!, Math.log10, "log");
      const [value, by] = [logarithm(x!, Math.log, "log"), logarithm(base, Math.log, "log")];
      if (by === 0) throw new RangeError("there is no logarithm to the base 1");
      const whole = typeof base !== "number" && base.bottom === 1n ? exactLog(x!, base.top) : undefined;
      return whole ?? value / by;
    },
  },
  log2: { least: 1, most: 1, run: ([x]) => exactLog(x!, 2n) ?? logarithm(x!, Math.log2, "log2") },
  log10: { least: 1, most: 1, run: ([x]) => exactLog(x!, 10n) ?? logarithm(x!, Math.log10, "log10") },
  ln: {
    least: 1,
    most: 1,
    run: ([x]) => (typeof x !== "number" && compare(x!, one) === 0 ? zero : logarithm(x!, Math.log, "ln")),
  },
  exp: exactAt(0n, 1n, Math.exp),
  sin: exactAt(0n, 0n, Math.sin),
  cos: exactAt(0n, 1n, Math.cos),
  tan: exactAt(0n, 0n, Math.tan),
  asin: exactAt(0n, 0n, Math.asin),
  acos: exactAt(1n, 0n, Math.acos),
  atan: exactAt(0n, 0n, Math.atan),
};

/** @param run the logarithm of a double, to any base */
function logarithm(value: Value, run: (x: number) => number, name: string): number {
  if (orderOf(value, zero) <= 0) throw new RangeError(`${name} needs a positive number`);
  if (!isBeyond(value)) return run(numberOf(value));
  const { lead, exponent } = scaled(value);
  return run(lead) + exponent * run(2);
}

/** @param run the root of a double, of that degree */
function root(value: Value, degree: number, run: (x: number) => number): number {
  if (!isBeyond(value)) return run(numberOf(value));
  const { lead, exponent } = scaled(value);
  const whole = Math.floor(exponent / degree);
  return run(lead * 2 ** (exponent - whole * degree)) * 2 ** whole;
}

/** The logarithm if it is a whole number. */
function exactLog(value: Value, base: bigint): Rational | undefined {
  if (typeof value === "number" || base < 2n || value.top <= 0n) return undefined;
  const [large, sign] =
    value.bottom === 1n ? [value.top, 1n] : value.top === 1n ? [value.bottom, -1n] : [0n, 0n];
  if (large === 0n) return undefined;
  if (base > large) return large === 1n ? rational(0n) : undefined;
  // Estimated from the lengths, then tried: repeated division would take a second for a long number.
  const bits = (whole: bigint): number => whole.toString(2).length;
  const lead = (whole: bigint): number => {
    const extra = Math.max(0, bits(whole) - 53);
    return Math.log2(Number(whole >> BigInt(extra))) + extra;
  };
  const guess = BigInt(Math.round(lead(large) / lead(base)));
  return base ** guess === large ? rational(sign * guess) : undefined;
}

/** A value for the model: `0.3`, `0.333... (rounded; exactly 1/3)`, `1.414... (rounded)`; a fraction outside the range of doubles as itself. */
export function say(value: Value): string {
  if (typeof value === "number") return `${Object.is(value, -0) ? 0 : value} (rounded)`;
  const decimal = decimalOf(value);
  if (decimal !== undefined) return decimal;
  const fraction = `${value.top}/${value.bottom}`;
  const near = toNumber(value);
  return near === 0 || !Number.isFinite(near) ? fraction : `${near} (rounded; exactly ${fraction})`;
}
