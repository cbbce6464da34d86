import { nearest } from "@rondo/core/checks";
import { describe, expect, it } from "vitest";
import { UsageError } from "../src/console/failure.ts";
import { oneLine, shortArgs, someLines } from "../src/console/shorten.ts";
import { type OptionSpecs, readArguments } from "../src/line/arguments.ts";

const specs: OptionSpecs = {
  model: { type: "string", short: "m", value: "NAME", does: "" },
  allow: { type: "string", multiple: true, value: "TOOL", does: "" },
  timeout: { type: "string", value: "TIME", does: "" },
  yes: { type: "boolean", short: "y", does: "" },
};
const read = (...given: string[]): ReturnType<typeof readArguments> => readArguments(given, specs, "run");

describe("arguments", () => {
  it("are words, options and their values, in any order", () => {
    const args = read(
      "a task",
      "-y",
      "--model=x",
      "--allow",
      "one",
      "more",
      "--allow=two",
      "--",
      "--not-an-option",
    );
    expect(args.words).toEqual(["a task", "more", "--not-an-option"]);
    expect(args.has("yes")).toBe(true);
    expect(args.text("model")).toBe("x");
    expect(args.texts("allow")).toEqual(["one", "two"]);
    expect(args.text("timeout")).toBeUndefined();
  });

  it("take a value that begins with a dash only when it is tied to its option", () => {
    expect(read("--model=-x").text("model")).toBe("-x");
    expect(() => read("--model", "-x")).toThrow(UsageError);
  });

  it("give a single option only once", () => {
    expect(() => read("-m", "a", "--model", "b")).toThrow("--model is given twice");
  });

  it("take a letter for no misspelling of another one", () => {
    expect(() => read("-z")).toThrow(/^there is no option -z of rondo \w+\. See/);
    expect(() => read("--modle", "x")).toThrow("Did you mean --model?");
  });

  it("do not know what every object knows", () => {
    expect(() => read("--__proto__", "x")).toThrow("there is no option --__proto__");
    expect(() => read("--constructor", "x")).toThrow("there is no option --constructor");
  });

  it.each([
    ["90", 90_000],
    ["1.5s", 1_500],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["250ms", 250],
  ])("read %s as %i ms", (given, ms) => {
    expect(read("--timeout", given).duration("timeout")).toBe(ms);
  });

  it.each(["0", "soon", "5 minutes", "1d", "1e3", "", "9".repeat(400)])(
    "do not read %j as a time",
    (given) => {
      expect(() => read(`--timeout=${given}`).duration("timeout")).toThrow(UsageError);
    },
  );

  it("read a date as of where one is, with a time of day or without", () => {
    const zone = process.env.TZ;
    process.env.TZ = "America/New_York";
    try {
      const time = (given: string): number | undefined => read(`--timeout=${given}`).time("timeout", 0);
      expect(time("2026-12-24")).toBe(Date.UTC(2026, 11, 24, 5));
      expect(time("2026-12")).toBe(Date.UTC(2026, 11, 1, 5));
      expect(time("2026-12-24T18:00")).toBe(Date.UTC(2026, 11, 24, 23));
      expect(time("2026-12-24T18:00Z")).toBe(Date.UTC(2026, 11, 24, 18));
      expect(time("1.5h")).toBe(5_400_000);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it.each(["2026-13-01", "1999-01-01T25:00", "1969-01-01", "9".repeat(400), "tomorrow"])(
    "do not read %j as a time to come",
    (given) => {
      expect(() => read(`--timeout=${given}`).time("timeout", 0)).toThrow(UsageError);
    },
  );
});

describe("near matches", () => {
  it("are found for slips of the finger, and not for other words", () => {
    expect(nearest("shwo", ["run", "runs", "show"])).toEqual(["show"]);
    expect(nearest("run_comand", ["read_file", "run_command"])).toEqual(["run_command"]);
    expect(nearest("delete", ["run", "show"])).toEqual([]);
  });
});

describe("shortening", () => {
  it("keeps what fits and says what it cut", () => {
    expect(oneLine("a\n  b", 10)).toBe("a b");
    expect(oneLine("🎉".repeat(20), 5)).toBe("🎉🎉🎉🎉…");
    expect(someLines("a\nb\nc\nd\n", 2, 10)).toEqual(["a", "b", "… 2 more lines"]);
    expect(someLines("a\nb\nc\n", 2, 10)).toEqual(["a", "b", "c"]);
    expect(shortArgs({ path: "a.txt" })).toBe("a.txt");
    expect(shortArgs({ path: "a.txt", limit: 3 })).toBe("path: a.txt, limit: 3");
    expect(shortArgs({})).toBe("");
  });
});
