import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../src/decide.js";
import { everydayCommands } from "./corpus/everyday-commands.js";
import { shellBypasses, writingBypasses } from "./corpus/shell-bypasses.js";
import { command, inputOf } from "./decisions.js";

const corpus = [
  ...everydayCommands,
  ...[...shellBypasses, ...writingBypasses].flatMap(({ commands }) => commands),
];
const line = fc.oneof(
  fc.constantFrom(...corpus),
  fc.string({ maxLength: 60 }),
  fc
    .tuple(
      fc.constantFrom(...corpus),
      fc.constantFrom("; ", " | ", "\n"),
      fc.constantFrom(...corpus),
    )
    .map((parts) => parts.join("")),
);
const pattern = fc.oneof(
  fc.constantFrom(
    "ls:*",
    "git *",
    "git diff:*",
    "rm:*",
    "npm test",
    "find:*",
    "echo *",
    "cat *.ts",
    "e*",
    "sudo rm:*",
  ),
  fc.string({ minLength: 1, maxLength: 10 }),
);
const mode = fc.constantFrom("default", "accept_edits", "explore", "bypass", "dont_ask");

test("more allow rules never take a permission away", () => {
  fc.assert(
    fc.property(line, fc.array(pattern), fc.array(pattern), mode, (text, some, more, in_) => {
      fc.pre(command(text, { allow: some }, in_).decision === "allow");
      expect(command(text, { allow: [...more, ...some] }, in_).decision).toBe("allow");
    }),
    { numRuns: scaled(50, 300) },
  );
});

test("more deny or ask rules never give a permission", () => {
  fc.assert(
    fc.property(line, fc.array(pattern), pattern, mode, (text, allow, rule, in_) => {
      fc.pre(command(text, { allow }, in_).decision !== "allow");
      expect(command(text, { allow, deny: [rule] }, in_).decision).not.toBe("allow");
      expect(command(text, { allow, ask: [rule] }, in_).decision).not.toBe("allow");
    }),
    { numRuns: scaled(50, 300) },
  );
});

test("a deny rule that matches wins over every other rule, in every mode", () => {
  fc.assert(
    fc.property(line, fc.array(pattern), fc.array(pattern), mode, (text, allow, ask, in_) => {
      const denied = command(`rm x; ${text}`, { allow: [...allow, "*"], ask, deny: ["rm:*"] }, in_);
      expect(denied.decision).not.toBe("allow");
      expect(command("rm x", { allow: [...allow, "*"], ask, deny: ["rm:*"] }, in_).decision).toBe(
        "deny",
      );
    }),
    { numRuns: scaled(50, 300) },
  );
});

test("an allowed and a forbidden command, however joined, never run", () => {
  const separator = fc.constantFrom(";", "&&", "||", "|", "|&", "&", "\n", " ;\n ", "\n\n", "& \n");
  const forbidden = fc.constantFrom(
    "rm x",
    "'rm' x",
    "r\\m x",
    "/bin/rm x",
    "env rm x",
    "$(rm x)",
    "sh -c 'rm x'",
    "(rm x)",
    "{ rm x; }",
    "echo > f",
  );
  const allowed = fc.constantFrom("ls", "ls -la", "echo 'a b'", 'echo "x"');
  fc.assert(
    fc.property(allowed, separator, forbidden, fc.boolean(), (good, join, bad, swap) => {
      const text = swap ? `${bad} ${join} ${good}` : `${good} ${join} ${bad}`;
      expect(command(text, { allow: ["ls:*", "echo:*", "env:*", "sh:*"] }).decision).toBe("ask");
    }),
    { numRuns: scaled(50, 500) },
  );
});

test("how a word is quoted does not change a decision", () => {
  const words = fc.array(fc.stringMatching(/^[a-z0-9./=-]{1,8}$/), { minLength: 1, maxLength: 4 });
  const quotes = [
    (word: string) => word,
    (word: string) => `'${word}'`,
    (word: string) => `"${word}"`,
    (word: string) => [...word].map((char) => `\\${char}`).join(""),
    (word: string) => `${word.slice(0, 1)}""${word.slice(1)}`,
    (word: string) =>
      `$'${[...word].map((char) => `\\x${char.charCodeAt(0).toString(16)}`).join("")}'`,
  ];
  const styles = fc.array(fc.nat(quotes.length - 1), { minLength: 8, maxLength: 8 });
  const program = fc.constantFrom("rm", "git", "ls", "find", "env", "sudo", "echo");
  const rules = { allow: ["ls:*", "git *", "find:*", "echo:*"], deny: ["rm:*", "git push:*"] };
  fc.assert(
    fc.property(program, words, styles, (name, args, style) => {
      // A word with a sign of equality is an assignment only where it is not quoted.
      const plain = [name, ...args].filter((word) => !/^\w+=/.test(word));
      const quoted = plain.map((word, index) => quotes[style[index] ?? 0]?.(word) ?? word);
      const { decision } = command(plain.join(" "), rules);
      expect(command(quoted.join(" "), rules).decision).toBe(decision);
    }),
    { numRuns: scaled(60, 1_000) },
  );
});

describe("any text of up to 10,000 characters", () => {
  const rules = { allow: ["ls *", "*a*b*c*d*"], ask: ["git *x*y*"], deny: ["rm:*", "*e*f*g*"] };
  const kind = fc.constantFrom("command", "path", "url", "text");

  test("has a decision", () => {
    const shell = fc.string({
      unit: fc.constantFrom(..."abrm \n;&|<>(){}[]$`'\"\\*?~=#!-/"),
      maxLength: 400,
    });
    const value = fc.oneof(shell, fc.string({ unit: "binary", maxLength: 400 }), line);
    fc.assert(
      fc.property(kind, value, mode, (of, text, in_) => {
        const { decision } = decide(inputOf({ kind: of, value: text }, rules, in_));
        expect(["allow", "ask", "deny"]).toContain(decision);
      }),
      { numRuns: scaled(150, 3_000) },
    );
  });

  test.each([
    "(",
    "$(",
    "`",
    "{",
    "a;",
    "((",
    "$((",
    "${",
    "<(",
    "a|",
    "'",
    '"',
    "$'",
    "*",
    "a ",
    "/..",
    "%2e",
    "{a,",
    "<<a\n",
    "if ",
    "\\",
    "sh -c '",
    "[[ ",
  ])("%j over and over has a decision", (piece) => {
    const text = piece.repeat(Math.floor(10_000 / piece.length));
    for (const of of ["command", "path", "url", "text"] as const)
      expect(decide(inputOf({ kind: of, value: text }, rules)).decision).not.toBe("allow");
  });
});

describe("suggestions", () => {
  const suggested = (text: string) => {
    const decision = command(text, {});
    return decision.decision === "ask" ? (decision.suggestions ?? []) : [];
  };
  const patterns = (text: string) => suggested(text).map((rule) => rule.pattern ?? "*");

  test("allow exactly the call, and none that differs", () => {
    const mutation = fc.constantFrom(
      (text: string) => `${text} extra`,
      (text: string) => `${text}; rm x`,
      (text: string) => `${text} > f`,
      (text: string) => `${text} $X`,
      (text: string) => `X=1 ${text}`,
      (text: string) => `x${text}`,
    );
    let offered = 0;
    fc.assert(
      fc.property(line, mutation, (text, mutate) => {
        const allow = patterns(text);
        if (allow.length === 0) return;
        offered++;
        expect(command(text, { allow }).decision).toBe("allow");
        const changed = mutate(text);
        fc.pre(!/[#\n]|\bEOF\b/.test(text) && !allow.includes("rm x"));
        expect(command(changed, { allow }).decision).toBe("ask");
      }),
      { numRuns: scaled(250, 1_000) },
    );
    expect(offered).toBeGreaterThan(100);
  });

  test("are one for each command, with a text for a button", () => {
    expect(suggested("cd x && timeout 5 npm test -- 'a b'")).toEqual([
      { tool: "execute", pattern: "cd x", text: "Always allow `cd x`" },
      {
        tool: "execute",
        pattern: "npm test -- 'a b'",
        text: "Always allow `npm test -- a b`",
        broad: true,
      },
    ]);
  });

  test.each([
    "ls $X",
    "ls *",
    "eval ls",
    "LD_PRELOAD=x ls",
    "ls > f",
    "a; b; c; d; e; f",
    "f() { ls; }",
  ])("are not made for %j", (text) => {
    expect(suggested(text)).toEqual([]);
  });

  test.each([
    ["find . -name '*.ts'", "find . -name \\*.ts"],
    [`echo "it's"`, "echo it\\'s"],
    ["echo ''", "echo ''"],
    ["echo '\\'", "echo \\\\"],
  ])("for %j are the rule %j, in which nothing is a wildcard", (text, wanted) => {
    expect(patterns(text)).toEqual([wanted]);
    expect(command(text, { allow: [wanted] }).decision).toBe("allow");
  });

  test("leave out what a rule covers already", () => {
    const decision = command("ls && pwd", { allow: ["ls:*"] });
    expect(decision).toMatchObject({ suggestions: [{ pattern: "pwd" }] });
  });

  test.each([
    [{ kind: "path", value: "src/a[1]*.ts" }, "./src/a\\[1\\]\\*.ts"],
    [{ kind: "path", value: "/etc/hosts" }, "//etc/hosts"],
    [{ kind: "url", value: "http://localhost:3000/a" }, "domain:localhost:3000"],
    [{ kind: "text", value: "a*b" }, "a\\*b"],
  ] as const)("for %j are %j", (subject, wanted) => {
    const asked = decide(inputOf(subject, {}));
    expect(asked).toMatchObject({ suggestions: [{ pattern: wanted }] });
    expect(decide(inputOf(subject, { allow: [wanted] })).decision).toBe("allow");
  });
});
