import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calculate } from "../src/index.ts";
import { call } from "./calling.ts";

const calc = async (expression: string): Promise<string> =>
  (await call(calculate(), "calculate", { expression })).text;

describe("calculate", () => {
  test.each([
    ["0.1 + 0.2", "0.3"],
    ["2^100", "1267650600228229401496703205376"],
    ["12345678901234567890 * 98765432109876543210", "1219326311370217952237463801111263526900"],
    ["-2^2", "-4"],
    ["(-2)^2", "4"],
    ["2^3^2", "512"],
    ["2 ** -2", "0.25"],
    ["10 - 4 - 3", "3"],
    ["100 / 8 / 2", "6.25"],
    ["2 + 3 * 4", "14"],
    ["-7 % 3", "-1"],
    ["7.5 % 2", "1.5"],
    ["1_000_000 * 1e-3", "1000"],
    ["1/3", "0.3333333333333333 (rounded; exactly 1/3)"],
    ["1/3 * 3", "1"],
    ["sqrt(16)", "4"],
    ["sqrt(2.25)", "1.5"],
    ["sqrt(2)", "1.4142135623730951 (rounded)"],
    ["8 ^ (1/2)", "2.8284271247461903 (rounded)"],
    ["9 ^ 1.5", "27"],
    ["round(2.5) + round(-2.5)", "0"],
    ["round(1.005, 2)", "1.01"],
    ["round(1234, -2)", "1200"],
    ["floor(-1.5) + ceil(1.2)", "0"],
    ["min(3, 1, 2) + max(1/3, 1/2)", "1.5"],
    ["abs(-3.5)", "3.5"],
    ["log(1000)", "3"],
    ["log(8, 2)", "3"],
    ["log(3^5000, 3)", "5000"],
    ["log(10^-40)", "-40"],
    ["log(1, 7)", "0"],
    ["log(3^100 + 1, 3)", "100.00000000000001 (rounded)"],
    ["ln(e)", "1 (rounded)"],
    ["exp(0) + sin(0) + cos(0)", "2"],
    ["2 × 3 ÷ 4 − 1", "0.5"],
    ["PI", "3.141592653589793 (rounded)"],
    ["+5", "5"],
    ["--5", "5"],
    ["0^0", "1"],
    ["(-1)^1000001", "-1"],
    [".5 + 5.", "5.5"],
    ["floor(pi) + ceil(pi) + trunc(pi) + sign(-pi)", "9"],
    ["round(pi, 2)", "3.14"],
    ["floor(exp(100))", "2.6881171418161356e+43 (rounded)"],
    ["round(exp(40), -3)", "235385266837020000 (rounded)"],
    ["sign(exp(100))", "1"],
    ["10^400 / 7", `1${"0".repeat(400)}/7`],
    ["-1 / (7 * 10^400)", `-1/7${"0".repeat(400)}`],
    ["floor(log10(2^5000)) + 1", "1506"],
    ["log(10^400 + 1)", "400 (rounded)"],
    ["log2(3 * 2^2000)", "2001.584962500721 (rounded)"],
    ["ln(10^-400)", "-921.0340371976183 (rounded)"],
    ["ln(1)", "0"],
    ["ln(1 + 10^-30)", "0 (rounded)"],
    ["log(5, 10^400)", "0.0017474250108400471 (rounded)"],
    ["sqrt(10^501)", "3.162277660168379e+250 (rounded)"],
    ["cbrt(-10^900)", "-1e+300 (rounded)"],
  ])("%s is %s", async (expression, value) => {
    expect(await calc(expression)).toBe(value);
  });

  test.each([
    ["1/0", "division by zero (at character 2"],
    ["5 % (1 - 1)", "division by zero (at character 3"],
    ["0^-1", "zero to a negative power"],
    ["sqrt(-1)", "square root of a negative number"],
    ["sqrt(-10^-400)", "square root of a negative number"],
    ["ln(0)", "positive number"],
    ["log2(-10^-400)", "log2 needs a positive number"],
    ["log(2, 1)", "no logarithm to the base 1"],
    ["2 +", "ends where a number is expected (at character 4"],
    ["(1 + 2", 'the "(" at 1 is not closed'],
    ["1 + 2)", 'there is no "(" for this ")"'],
    ["2 3", 'an operator is missing before "3" (at character 3'],
    ["2x", 'an operator is missing before "x"'],
    ["1,000 + 5", 'an operator is missing before ","; a number has no commas in it (at character 2'],
    ["max(1, 2) , 3", 'an operator is missing before ","'],
    ["50%", "ends where a number is expected; % is the remainder, and 5 percent are 5 / 100"],
    ["20% of 50", '"of" is not known; % is the remainder'],
    ["1 $ 2", '"$" is not understood here (at character 3'],
    ["foo(1)", 'the function "foo" is not known; there are sqrt'],
    ["constructor", '"constructor" is not known'],
    ["__proto__", "is not understood"],
    ["toString(1)", 'the function "toString" is not known'],
    ["sqrt", "write sqrt(...)"],
    ["sqrt(1, 2)", "sqrt takes 1 argument, not 2"],
    ["min()", "at least 1 argument, not 0"],
    ["9^9^9^9", "more than 2,400 digits"],
    ["1e999999999", "more than 2,400 digits"],
    ["(-8)^(1/3)", "not a real number"],
    [`${"(".repeat(200)}1`, "more than 100 levels deep"],
    [`${"-".repeat(200)}1`, "more than 100 levels deep"],
    ["asin(2)", "not a real number"],
    ["round(1, 0.5)", "whole number"],
    ["   ", "empty"],
  ])("%s is refused: %s", async (expression, words) => {
    const answer = await call(calculate(), "calculate", { expression });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain(words);
  });

  test("agrees with whole numbers of any size", async () => {
    const whole = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    await fc.assert(
      fc.asyncProperty(whole, whole, fc.constantFrom("+", "-", "*"), async (a, b, sign) => {
        const expected = sign === "+" ? a + b : sign === "-" ? a - b : a * b;
        expect(await calc(`(${a}) ${sign} (${b})`)).toBe(String(expected));
      }),
    );
  });

  test("names what is not understood with whole characters around it", async () => {
    expect(await calc("1🎉x🎉🎉🎉🎉🎉")).toBe(
      'Error: "🎉" is not understood here (at character 2, near "1🎉x🎉🎉🎉")',
    );
  });

  test("gives the nearest double for a fraction that does not end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2 ** 40 }),
        fc.integer({ min: 1, max: 2 ** 40 }),
        async (a, b) => {
          const text = await calc(`${a}/${b}`);
          expect(Number(/^-?[\d.e+-]+/.exec(text)![0])).toBe(a / b);
        },
      ),
    );
    // Beyond what doubles hold exactly: the quotient still is the nearest.
    expect(await calc("(10^30 + 1) / (3 * 10^30)")).toMatch(/^0\.3333333333333333 /);
    expect(await calc("1 / (3 * 10^320)")).toMatch(/^3\.33\d*e-321 /);
  });

  test("answers or refuses anything, and never takes long over it", async () => {
    const soup = fc.array(
      fc.constantFrom(
        "1",
        "9",
        "0",
        ".",
        "e5",
        "+",
        "-",
        "*",
        "/",
        "^",
        "%",
        "(",
        ")",
        ",",
        "sqrt(",
        "max(",
        "log(",
        "pi",
        " ",
        "round(",
        "99",
      ),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(soup, async (pieces) => {
        const { text } = await call(calculate(), "calculate", { expression: pieces.join("") || "1" });
        expect(text.length).toBeGreaterThan(0);
        expect(text).not.toMatch(/NaN|Infinity/);
      }),
      { numRuns: 500 },
    );
    const heavy = `1${"*(1/99999999999999999999999999999999999999999999999999999999999)".repeat(30)}`;
    expect((await calc(heavy)).length).toBeGreaterThan(0);
  });
});
