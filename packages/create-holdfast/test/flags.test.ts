import { expect, test } from "vitest";
import { parts } from "../src/choices.js";
import { readFlags } from "../src/flags.js";
import { packageManagerOf } from "../src/package-manager.js";

test("what is not given is left open", () => {
  const { given, ...rest } = readFlags([]);
  expect(Object.values(given).every((value) => value === undefined)).toBe(true);
  expect(rest).toEqual({
    ...{ install: undefined, git: undefined },
    ...{ yes: false, help: false, version: false },
  });
});

test("parts are names between commas, all or none", () => {
  const partsOf = (text: string) => readFlags(["--parts", text]).given.parts;
  expect(partsOf("compaction, mcp,")).toEqual(["compaction", "mcp"]);
  expect(partsOf("none")).toEqual([]);
  expect(partsOf("all")).toEqual(Object.keys(parts));
});

test("an installation and a repository can be asked for and refused", () => {
  expect(readFlags(["--no-install", "--git"])).toMatchObject({ install: false, git: true });
  expect(readFlags(["--install", "--no-git"])).toMatchObject({ install: true, git: false });
});

test.each([
  [["--colour"], "Unknown option '--colour'. --help lists the options."],
  [["one", "two"], "One directory is enough, and there are more: one, two."],
])("%j is refused in a plain sentence", (args, message) => {
  expect(() => readFlags(args)).toThrow(message);
});

test.each([
  ["npm/10.8.2 node/v20.19.0 linux x64 workspaces/false", "npm"],
  ["pnpm/10.2.0 npm/? node/v22.1.0 linux x64", "pnpm"],
  ["yarn/4.5.0 npm/? node/v22.1.0 darwin arm64", "yarn"],
  ["bun/1.2.0 npm/? node/v22.1.0 linux x64", "bun"],
  ["deno/2.0", "npm"],
  [undefined, "npm"],
])("the package manager of %j is %s", (userAgent, name) => {
  expect(packageManagerOf(userAgent)).toBe(name);
});
