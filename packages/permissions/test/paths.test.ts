import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decide } from "../src/decide.js";
import { realPathOf } from "../src/path/real-path-of.js";
import { outsidePaths, secretPaths } from "./corpus/path-bypasses.js";
import { inputOf, type Specifiers } from "./decisions.js";

const path = (value: string, rules: Specifiers, real?: string) =>
  decide(inputOf({ kind: "path", value, real }, rules)).decision;
const inBypass = (value: string, rules: Specifiers, real?: string) =>
  decide(inputOf({ kind: "path", value, real }, rules, "bypass")).decision;

test("the corpus has at least 60 paths", () => {
  expect(new Set([...secretPaths, ...outsidePaths]).size).toBeGreaterThan(60);
});

describe.each([
  "./secret",
  "/secret",
  "secret",
  "secret/",
  "secret/**",
  "**/secret/**",
  "//srv/app/secret",
  "../app/secret",
  "./src/../secret",
  "src/../../app/secret/**",
  "~/../../srv/app/secret",
])("a rule for %j", (pattern) => {
  const paths = pattern.includes("/**")
    ? secretPaths.filter((name) => /key/i.test(name))
    : secretPaths;
  test.each(paths)("forbids %j", (value) => {
    expect(inBypass(value, { deny: [pattern] })).toBe("deny");
  });
});

test.each(secretPaths)("%j is not inside src", (value) => {
  expect(path(value, { allow: ["./src/**"] })).toBe("ask");
});

test.each(outsidePaths)("%j is not covered by ./src/**", (value) => {
  expect(path(value, { allow: ["./src/**"] })).toBe("ask");
});

test.each([
  ["./src/**", "src/a"],
  ["./src/**", "src/a/b/c.ts"],
  ["./src", "src/a"],
  ["src/*.ts", "src/a.ts"],
  ["*.ts", "src/deep/a.ts"],
  ["**/test/*.ts", "a/test/b.ts"],
  ["/src/a?.ts", "./src/ab.ts"],
  ["src/[a-c].ts", "src/b.ts"],
  ["src/[!a].ts", "src/b.ts"],
  ["~/notes/**", "/home/ada/notes/x"],
  ["~/notes", "~/notes/x"],
  ["//etc/hosts", "/etc/hosts"],
  ["**", "any/thing"],
  ["caf\u00e9", "cafe\u0301"],
  ["a\\*b", "a*b"],
  [".github/**", ".github/workflows/ci.yml"],
  ["src/...rest.ts", "src/...rest.ts"],
  ["../shared/**", "../shared/x"],
  ["./../shared", "/srv/shared/x"],
  ["src/../../shared/*.ts", "../shared/a.ts"],
  ["src/../lib", "lib/a"],
  ["..", "../other/x"],
  ["~/../bob", "/home/bob/x"],
  ["//srv/../etc/hosts", "/etc/hosts"],
  ["**/a/../b", "c/b"],
])("%j covers %j", (pattern, value) => {
  expect(path(value, { allow: [pattern] })).toBe("allow");
});

test.each([
  ["src/*.ts", "src/a/b.ts"],
  ["src/[a-c].ts", "src/d.ts"],
  ["src/[!a].ts", "src/a.ts"],
  ["a\\*b", "axb"],
  ["*.ts", "/elsewhere/a.ts"],
  ["//etc/hosts", "/etc/hosts2"],
  ["?", "ab"],
  ["../shared/**", "shared/x"],
  ["../shared/**", "/shared/x"],
  ["../*", "/elsewhere/x"],
  ["src/**/../lib", "lib/a"],
])("%j does not cover %j", (pattern, value) => {
  expect(path(value, { allow: [pattern] })).toBe("ask");
});

test("`..` in a rule leads out of the workspace, not back into it", () => {
  const outside = { deny: ["../secrets/**"] };
  expect(inBypass("../secrets/key", outside)).toBe("deny");
  expect(inBypass("/srv/secrets/key", outside)).toBe("deny");
  expect(inBypass("src/link", outside, "/srv/secrets/key")).toBe("deny");
  expect(inBypass("secrets/key", outside, "/srv/app/secrets/key")).toBe("allow");
  expect(inBypass("/secrets/key", outside)).toBe("allow");
});

test("where it cannot be told what `..` leads to, a rule may forbid anything and allows nothing", () => {
  expect(inBypass("a", { deny: ["src/**/../b"] })).toBe("ask");
  expect(path("src/b", { allow: ["src/**/../b"] })).toBe("ask");
});

test("a working directory beside the workspace is not one inside it", () => {
  const edit = (value: string) =>
    decide({
      ...inputOf({ kind: "path", value }, {}, "accept_edits"),
      workingDirectories: ["../shared"],
    }).decision;
  expect(edit("../shared/x")).toBe("allow");
  expect(edit("shared/x")).toBe("ask");
});

test("a real path elsewhere takes the permission away, and a forbidden real path forbids", () => {
  expect(path("src/a", { allow: ["./src/**"] }, "/srv/app/src/a")).toBe("allow");
  expect(path("src/a", { allow: ["./src/**"] }, "/etc/passwd")).toBe("ask");
  expect(path("src/a", { allow: ["./src/**"] }, "")).toBe("ask");
  expect(inBypass("src/a", { deny: ["//etc/**"] }, "/etc/passwd")).toBe("deny");
  expect(inBypass("src/a", { deny: ["//etc/**"] }, "")).toBe("ask");
});

test.each([
  ["[!a]bc", "Abc"],
  ["[!a]bc", "lib/Abc"],
  ["./src/[^a-z]*", "src/Main.ts"],
  ["[A]bc", "abc"],
])("a rule that forbids %j forbids %j, which it names on some filesystem", (pattern, value) => {
  expect(inBypass(value, { deny: [pattern] })).toBe("deny");
});

describe("links on a real disk", () => {
  let root: string;
  beforeAll(async () => {
    const base = await mkdtemp(join(tmpdir(), "holdfast-permissions-"));
    root = await realPathOf(base, "app");
    await mkdir(join(root, "src/deep"), { recursive: true });
    await mkdir(join(root, "secret"), { recursive: true });
    await mkdir(`${root}-secret`, { recursive: true });
    await writeFile(join(root, "secret/key"), "x");
    await writeFile(join(root, "src/plain"), "x");
    await symlink("../secret/key", join(root, "src/file-link"));
    await symlink("../secret", join(root, "src/directory-link"));
    await symlink(join(root, "secret"), join(root, "src/absolute-link"));
    await symlink("directory-link", join(root, "src/link-to-link"));
    await symlink("../secret/not-there", join(root, "src/dangling"));
    await symlink("../../app-secret", join(root, "src/sibling"));
    await symlink("deep", join(root, "src/inside"));
    await symlink("loop-b", join(root, "src/loop-a"));
    await symlink("loop-a", join(root, "src/loop-b"));
    await symlink("/", join(root, "src/everything"));
    await symlink("../../secret/nested/dir", join(root, "src/deep/up"));
  });
  afterAll(() => rm(join(root, ".."), { recursive: true }));

  const decision = async (value: string, rules: Specifiers, mode?: "bypass") =>
    decide({
      ...inputOf({ kind: "path", value, real: await realPathOf(root, value) }, rules, mode),
      root,
    }).decision;

  test.each([
    "src/file-link",
    "src/directory-link/key",
    "src/directory-link/not-there/yet",
    "src/absolute-link/key",
    "src/link-to-link/key",
    "src/dangling",
    "src/deep/../directory-link/key",
    "src/directory-link/../secret/key",
    "src/inside/../../secret/key",
  ])("%j is the secret", async (value) => {
    expect(await decision(value, { allow: ["./src/**"] })).toBe("ask");
    expect(await decision(value, { deny: ["./secret"] }, "bypass")).toBe("deny");
  });

  test.each([
    "src/sibling/key",
    "src/loop-a",
    "src/loop-a/key",
    "src/everything/etc/passwd",
    "src/deep/up/x",
    "src/directory-link/../../x",
    "src/plain/x",
  ])("%j is not allowed", async (value) => {
    expect(await decision(value, { allow: ["./src/**"] })).toBe("ask");
  });

  test.each(["src/plain", "src/new", "src/deep/new/er", "src/inside/new"])(
    "%j is allowed",
    async (value) => {
      expect(await decision(value, { allow: ["./src/**"] })).toBe("allow");
    },
  );
});
