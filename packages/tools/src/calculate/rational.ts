// The room of exact numbers: fractions of whole numbers, limited in size.
//
// The limit keeps one expression from taking seconds: a number may have about 2,400 digits, a fraction's parts fewer.

/** A fraction in lowest terms; `bottom` is positive. */
export interface Rational {
  readonly top: bigint;
  readonly bottom: bigint;
}

/** A number that grew too large. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

const maxBits = 8192;

const bitsOf = (value: bigint): number => (value < 0n ? -value : value).toString(16).length * 4;

function bounded(value: bigint): bigint {
  if (value > limit || value < -limit) throw new TooLarge("the number has more than 2,400 digits");
  return value;
}

const limit = 1n << BigInt(maxBits);

function gcd(a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** @param bottom not zero */
export function rational(top: bigint, bottom: bigint = 1n): Rational {
  bounded(top);
  bounded(bottom);
  if (bottom === 1n) return { top, bottom };
  const common = gcd(top, bottom) * (bottom < 0n ? -1n : 1n);
  return { top: top / common, bottom: bottom / common };
}

export const add = (a: Rational, b: Rational): Rational =>
  rational(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
export const subtract = (a: Rational, b: Rational): Rational => add(a, negate(b));
export const multiply = (a: Rational, b: Rational): Rational => rational(a.top * b.top, a.bottom * b.bottom);
export const divide = (a: Rational, b: Rational): Rational => rational(a.top * b.bottom, a.bottom * b.top);
export const negate = (a: Rational): Rational => ({ top: -a.top, bottom: a.bottom });
export const isWhole = (a: Rational): boolean => a.bottom === 1n;
export const compare = (a: Rational, b: Rational): number => {
  const difference = a.top * b.bottom - b.top * a.bottom;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

export function floor(a: Rational): Rational {
  const whole = a.top / a.bottom;
  return rational(a.top < 0n && whole * a.bottom !== a.top ? whole - 1n : whole);
}

/** Toward zero. */
export const truncate = (a: Rational): Rational => rational(a.top / a.bottom);

/** The remainder of `a / b`, with the sign of `a`. */
export const remainder = (a: Rational, b: Rational): Rational =>
  subtract(a, multiply(b, truncate(divide(a, b))));

/** `a` to a whole power. @param exponent not negative when `a` is zero */
export function power(a: Rational, exponent: bigint): Rational {
  const count = exponent < 0n ? -exponent : exponent;
  const one = (value: bigint): boolean => value === 1n || value === -1n || value === 0n;
  if (!(one(a.top) && a.bottom === 1n)) {
    const largest = Math.max(bitsOf(a.top), bitsOf(a.bottom));
    // The top hexadecimal digit may be partly empty: this check is lenient, the limit below is exact.
    if (count > BigInt(maxBits) || (largest - 4) * Number(count) > maxBits)
      throw new TooLarge("the power has more than 2,400 digits");
    const [top, bottom] = [a.top ** count, a.bottom ** count];
    return exponent < 0n ? rational(bottom, top) : { top: bounded(top), bottom: bounded(bottom) };
  }
  return rational(a.top === -1n && count % 2n === 0n ? 1n : count === 0n ? 1n : a.top);
}

/** The square root if it is exact. */
export function exactRoot(a: Rational): Rational | undefined {
  const top = wholeRoot(a.top);
  const bottom = wholeRoot(a.bottom);
  return top === undefined || bottom === undefined ? undefined : { top, bottom };
}

function wholeRoot(value: bigint): bigint | undefined {
  if (value < 2n) return value;
  // Newton's method, from above.
  let guess = 1n << BigInt(Math.ceil(bitsOf(value) / 2));
  for (;;) {
    const better = (guess + value / guess) >> 1n;
    if (better >= guess) return guess * guess === value ? guess : undefined;
    guess = better;
  }
}

/** The nearest double, or an infinity. */
export function toNumber(a: Rational): number {
  const top = a.top < 0n ? -a.top : a.top;
  if (top <= 9007199254740991n && a.bottom <= 9007199254740991n) return Number(a.top) / Number(a.bottom);
  const { lead, exponent } = scaled(a);
  // In two steps: a power of two may exceed the range of doubles while the product does not.
  const half = Math.trunc(exponent / 2);
  return lead * 2 ** half * 2 ** (exponent - half);
}

/** A fraction as `lead * 2 ** exponent`, for one outside the range of doubles. @param a not zero */
export function scaled(a: Rational): { lead: number; exponent: number } {
  const top = a.top < 0n ? -a.top : a.top;
  // As many bits as decide the rounding, and one that tells whether more follow.
  const shift = BigInt(66 - (top.toString(2).length - a.bottom.toString(2).length));
  const over = shift >= 0n ? top << shift : top;
  const by = shift >= 0n ? a.bottom : a.bottom << -shift;
  const lead = Number((over / by) | (over % by === 0n ? 0n : 1n));
  return { lead: a.top < 0n ? -lead : lead, exponent: Number(-shift) };
}

/** A decimal text as an exact fraction. */
export function fromDecimal(text: string): Rational {
  const match = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  if (match === null) throw new RangeError(`not a number: ${text}`);
  const [, sign, whole = "", part = "", exponent = "0"] = match;
  const places = Number(exponent) - part.length;
  if (Math.abs(places) > 2400 || whole.length + part.length > 2400)
    throw new TooLarge("the number has more than 2,400 digits");
  const digits = BigInt(`${whole}${part}` || "0") * (sign === "-" ? -1n : 1n);
  return places >= 0 ? rational(digits * 10n ** BigInt(places)) : rational(digits, 10n ** BigInt(-places));
}

/** The decimal form if it ends within 60 places, else `undefined`. */
export function decimalOf(a: Rational): string | undefined {
  let places = 0;
  let rest = a.bottom;
  let scale = 1n;
  for (const prime of [10n, 2n, 5n])
    while (rest % prime === 0n) {
      rest /= prime;
      scale *= prime === 10n ? 1n : 10n / prime;
      if (++places > 60) return undefined;
    }
  if (rest !== 1n) return undefined;
  const digits = (a.top < 0n ? -a.top : a.top) * scale;
  const text = digits.toString().padStart(places + 1, "0");
  const whole = text.slice(0, text.length - places);
  return `${a.top < 0n ? "-" : ""}${whole}${places > 0 ? `.${text.slice(-places)}` : ""}`;
}
