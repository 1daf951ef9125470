import type { PermissionMode, ToolSubject } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { type DecisionInput, decide } from "../src/decide.js";
import { command, inputOf } from "./decisions.js";

const modes: readonly PermissionMode[] = [
  "default",
  "accept_edits",
  "explore",
  "bypass",
  "dont_ask",
];
const url = (value: string, allow: string[], deny: string[] = [], mode?: PermissionMode) =>
  decide(inputOf({ kind: "url", value }, { allow, deny }, mode)).decision;

function plain(change: Partial<DecisionInput>): DecisionInput {
  return {
    mode: "default",
    rules: { allow: [], ask: [], deny: [] },
    tool: { name: "note", readOnly: false, hasSubject: false },
    subjects: [],
    ...change,
  };
}
const readOnly = { name: "look", readOnly: true, hasSubject: false };

test.each([
  ["default", "allow", "ask"],
  ["accept_edits", "allow", "ask"],
  ["explore", "allow", "deny"],
  ["bypass", "allow", "allow"],
  ["dont_ask", "allow", "deny"],
] as const)("mode %s: a read-only tool %s, another %s", (mode, reading, writing) => {
  expect(decide(plain({ mode, tool: readOnly })).decision).toBe(reading);
  expect(decide(plain({ mode })).decision).toBe(writing);
});

test.each(modes)("a bare deny rule denies in mode %s, whatever else is allowed", (mode) => {
  const rule = { tool: "n*", source: "project settings" };
  const rules = { allow: [{ tool: "note" }], ask: [], deny: [rule] };
  expect(decide(plain({ mode, rules, toolCheck: "allow" }))).toEqual({
    decision: "deny",
    reason: "note is denied by the rule n* (project settings)",
  });
});

test("explore is not widened by allow rules, nor by the tool", () => {
  const rules = { allow: [{ tool: "note" }], ask: [], deny: [] };
  expect(decide(plain({ mode: "explore", rules, toolCheck: "allow" })).decision).toBe("deny");
});

test("an ask rule asks in bypass and without suggestions, and is denied where nobody is asked", () => {
  const rules = { allow: [{ tool: "note" }], ask: [{ tool: "note" }], deny: [] };
  expect(decide(plain({ mode: "bypass", rules }))).toEqual({
    decision: "ask",
    reason: "the rule note asks before note runs",
  });
  expect(decide(plain({ mode: "dont_ask", rules }))).toEqual({
    decision: "deny",
    reason: "the rule note asks before note runs; nobody is asked in the mode dont_ask",
  });
});

test("the tool's own check comes before allow rules, and after bypass", () => {
  const rules = { allow: [{ tool: "note" }], ask: [], deny: [] };
  expect(decide(plain({ rules, toolCheck: "ask" })).decision).toBe("ask");
  expect(decide(plain({ toolCheck: "allow" })).decision).toBe("allow");
  expect(decide(plain({ tool: readOnly, toolCheck: "ask" })).decision).toBe("ask");
  expect(decide(plain({ mode: "bypass", toolCheck: "ask" })).decision).toBe("allow");
});

describe("accept_edits", () => {
  const edit = (subjects: readonly ToolSubject[], workingDirectories = ["/srv/app"]) =>
    decide({ ...inputOf(subjects, {}, "accept_edits"), workingDirectories }).decision;
  const at = (value: string, real?: string): ToolSubject => ({ kind: "path", value, real });

  test("lets tools work on paths inside a working directory", () => {
    expect(edit([at("src/a"), at("/srv/app/b", "/srv/app/b")])).toBe("allow");
    expect(edit([at("lib/a")], ["lib"])).toBe("allow");
    expect(edit([at("a*b/c")], ["a*b"])).toBe("allow");
  });

  test.each([
    [[at("../app-secret/a")]],
    [[at("src/a", "/etc/passwd")]],
    [[at("src/a"), at("/etc/passwd")]],
    [[{ kind: "command", value: "touch a" } as const]],
    [[at("src/a"), { kind: "text", value: "a" } as const]],
    [[]],
  ])("asks about %j", (subjects: readonly ToolSubject[]) => {
    expect(edit(subjects)).toBe("ask");
  });

  test("a wildcard in the name of a working directory means itself", () => {
    expect(edit([at("axb/c")], ["a*b"])).toBe("ask");
  });
});

test("every subject of a call must be allowed, any may be denied", () => {
  const subjects: ToolSubject[] = [
    { kind: "path", value: "src/a" },
    { kind: "path", value: "secret" },
  ];
  expect(decide(inputOf(subjects, { allow: ["./src"] })).decision).toBe("ask");
  expect(decide(inputOf(subjects, { allow: ["./src", "secret"] })).decision).toBe("allow");
  expect(decide(inputOf(subjects, { allow: ["*"], deny: ["secret"] })).decision).toBe("deny");
});

test("a call whose subject is not told is never allowed by a specifier, and asks beside one that denies", () => {
  expect(decide(inputOf([], { allow: ["ls:*"] })).decision).toBe("ask");
  expect(decide(inputOf([], { deny: ["rm:*"] }, "bypass")).decision).toBe("ask");
});

test.each([
  ["ls *", "ls", "allow"],
  ["ls *", "ls -l", "allow"],
  ["ls *", "lsof", "ask"],
  ["ls*", "lsof", "allow"],
  ["ls:*", "lsof", "ask"],
  ["npm run test", "npm run test", "allow"],
  ["npm run test", "npm run test:unit", "ask"],
  ["echo \\*", "echo '*'", "allow"],
  ["echo \\*", "echo a", "ask"],
  ["git * main", "git checkout main", "allow"],
  ['git commit -m "*"', "git commit -m 'a b'", "allow"],
  ["echo a b", "echo 'a b'", "ask"],
  ["echo 'a b'", 'echo "a b"', "allow"],
  ["find . -exec grep:*", "find . -exec grep x {} +", "allow"],
  ["npx vitest:*", "npx vitest run", "allow"],
  ["npx:*", "npx vitest run", "ask"],
  ["sort -o out:*", "sort -o out in", "allow"],
])("the rule %j makes %j %s", (pattern, line, decision) => {
  expect(command(line, { allow: [pattern] }).decision).toBe(decision);
});

test.each([
  "ls() { echo a; }; ls",
  "function ls { echo a; }",
  "eval ls",
  "ls $((x))",
  "[[ a == b ]] && ls",
])("%j does not run although each command in it is allowed", (line) => {
  expect(command(line, { allow: ["ls:*", "echo:*", "eval:*"] }).decision).toBe("ask");
});

test("files that a command opens follow the rules of the file tools", () => {
  const opened = (line: string, allow: string[], deny: string[], real = "/srv/app/out/a") => {
    const input = inputOf({ kind: "command", value: line }, { allow: ["echo:*", "cat:*", "cd:*"] });
    const rule = (tool: string) => (pattern: string) => ({ tool, pattern });
    const rules = {
      allow: [...input.rules.allow, ...allow.map(rule("write_file"))],
      ask: [],
      deny: deny.map(rule("read_file")),
    };
    const realPaths = new Map([["out/a", real]]);
    const fileTools = { reads: ["read_file"], writes: ["write_file"], realPaths };
    return decide({ ...input, rules, fileTools }).decision;
  };
  expect(opened("echo x > out/a", ["./out/**"], [])).toBe("allow");
  expect(opened("echo x > out/a", ["./out/**"], [], "/etc/passwd")).toBe("ask");
  expect(opened("echo x > out/b", ["./out/**"], [])).toBe("ask");
  expect(opened("cd x && echo x > out/a", ["./out/**"], [])).toBe("ask");
  expect(opened("cat < .env", [], [".env"])).toBe("deny");
  expect(opened("cat < $F", [], [".env"])).toBe("ask");
  expect(opened("cat < README", [], [".env"])).toBe("allow");
});

describe("addresses", () => {
  test.each([
    ["domain:example.com", "https://example.com/a?b"],
    ["domain:example.com", "https://EXAMPLE.com./a"],
    ["domain:*.example.com", "https://api.example.com/"],
    ["domain:localhost:8080", "http://localhost:8080/"],
    ["domain:localhost:*", "http://localhost:1234/"],
    ["domain:bücher.example", "https://xn--bcher-kva.example/"],
    ["https://example.com/docs/*", "https://example.com/docs/a"],
    ["https://example.com*", "https://example.com/a"],
    ["https://*.example.com/*", "https://a.example.com/b"],
  ])("%j covers %j", (pattern, value) => {
    expect(url(value, [pattern])).toBe("allow");
    expect(url(value, [], [pattern], "bypass")).toBe("deny");
  });

  test.each([
    ["domain:example.com", "https://example.com@evil.test/"],
    ["domain:example.com", "https://user@example.com/"],
    ["domain:example.com", "https://example.com.evil.test/"],
    ["domain:example.com", "https://notexample.com/"],
    ["domain:example.com", "https://sub.example.com/"],
    ["domain:*.example.com", "https://example.com/"],
    ["domain:*.example.com", "https://evilexample.com/"],
    ["domain:example.com", "https://example.com:8443/"],
    ["domain:example.com", "ftp://example.com/"],
    ["domain:example.com", "file://example.com/etc/passwd"],
    ["domain:example.com", "https://evil.test/example.com"],
    ["domain:example.com", "https://evil.test#example.com"],
    ["domain:example.com", "https://evil.test\\@example.com/"],
    ["domain:example.com", "https://exаmple.com/"],
    ["domain:example.com", "//example.com/"],
    ["domain:example.com", "example.com"],
    ["domain:example.com", "https://exam\nple.com/"],
    ["domain:example.com", ""],
    ["https://example.com*", "https://example.com.evil.test/"],
    ["https://example.com/docs/*", "https://example.com/docs/../admin"],
    ["https://example.com/docs/*", "https://example.com/docs/%2e%2e/admin"],
    ["https://example.com/*", "http://example.com/"],
  ])("%j does not cover %j", (pattern, value) => {
    expect(url(value, [pattern])).toBe("ask");
  });

  test.each([
    "https://u:p@evil.test/",
    "http://EVIL.test:8080/x",
    "https://evil.test./",
    "https:\\\\evil.test\\",
    "not an address",
    "http://",
  ])("%j does not get past a deny rule", (value) => {
    expect(url(value, ["*"], ["domain:evil.test"], "bypass")).not.toBe("allow");
  });
});

test("text is equal, or matches with *", () => {
  const text = (value: string, allow: string[], deny: string[] = []) =>
    decide(inputOf({ kind: "text", value }, { allow, deny })).decision;
  expect(text("researcher", ["researcher"])).toBe("allow");
  expect(text("researcher2", ["researcher"])).toBe("ask");
  expect(text("a/b c", ["a*c"])).toBe("allow");
  expect(text(" Writer ", ["*"], ["writer"])).toBe("deny");
});

test.each([
  ["find . -exec grep:*", "find . -exec grep x {} + -exec rm {} +"],
  ["sort -o a:*", "sort -o a -o /etc/b c"],
  ["make -f a:*", "make -f a -f /tmp/b"],
])("a rule that names an option, %j, is about one use of it", (pattern, line) => {
  expect(command(line, { allow: [pattern] }).decision).toBe("ask");
  expect(command(`${pattern.slice(0, -2)} x`, { allow: [pattern] }).decision).toBe("allow");
});

describe("a command in a directory of the workspace", () => {
  const decided = (directory: string, allow: string[], deny: string[] = []) =>
    decide(inputOf({ kind: "command", value: "sh build.sh", directory }, { allow, deny }));

  test("is not the command that a rule was remembered for", () => {
    expect(decided("tmp", ["sh build.sh"])).toMatchObject({
      decision: "ask",
      suggestions: [{ pattern: "cd tmp" }],
    });
    expect(decided("tmp", ["sh build.sh", "cd tmp"])).toEqual({ decision: "allow" });
    expect(decided("tmp", ["*"], ["cd tmp"]).decision).toBe("deny");
    expect(decided("a\u200Bb", ["sh build.sh", "cd:*"]).decision).toBe("ask");
  });

  test.each(["", ".", "./", "././"])("is the same command in the workspace itself, %j", (root) => {
    expect(decided(root, ["sh build.sh"])).toEqual({ decision: "allow" });
  });

  test("outside of it is not the workspace itself", () => {
    expect(decided("/", ["sh build.sh"]).decision).toBe("ask");
  });
});

test.each(['git commit -m "a\nb"', "printf 'a\tb'"])(
  "no rule is suggested that could not be written: %j",
  (line) => {
    expect(command(line, {})).not.toHaveProperty("suggestions");
  },
);
