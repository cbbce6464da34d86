import { describe, expect, it } from "vitest";
import { readOptions } from "../src/wire/command-line.ts";

describe("the words given to rondo-wire", () => {
  it("are read", () => {
    expect(readOptions(["--script", "-", "--port=1", "--lenient", "--repeat-last", "-h"])).toEqual({
      script: "-",
      port: "1",
      lenient: true,
      "repeat-last": true,
      print: false,
      help: true,
    });
  });

  it.each([
    [["--scrpt", "x"], "there is no option --scrpt. Did you mean --script? See rondo-wire --help"],
    [["--repeatlast"], "there is no option --repeatlast. Did you mean --repeat-last? See rondo-wire --help"],
    [["--frobnicate"], "there is no option --frobnicate. See rondo-wire --help"],
    [["--toString"], "there is no option --toString. See rondo-wire --help"],
    [["-x"], /^there is no option -x\./],
    [["script.json"], 'there is nothing to do with "script.json": every file has its option.'],
    [["--script"], "--script needs a value. See rondo-wire --help"],
    [["--script", "--print"], "--script needs a value, and --print looks like an option"],
    [["--print=no"], "--print takes no value; write --print alone."],
  ] as const)("%j: what cannot be used is told in one line, with what was meant", (args, says) => {
    expect(() => readOptions(args)).toThrow(says);
    expect(() => readOptions(args)).not.toThrow(/\n/);
  });
});
