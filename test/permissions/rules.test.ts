import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError, InvalidInputError, type PermissionRule, tool } from "@holdfast/core";
import type { ScriptedToolCall } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Desk, newDesk, send, session, toolsOf } from "./desk.js";

const execute = (command: string) => ({ name: "execute", input: { command } });
const read = (path: string) => ({ name: "read_file", input: { path } });
const sends = { name: "send", input: {} };

/** Asks about a call and approves it, with what the person wants remembered. */
async function approve(
  { agent, ask }: Desk,
  call: ScriptedToolCall,
  remember?: "session" | "user" | { scope: "session" | "user"; rules: readonly PermissionRule[] },
) {
  const reply = await ask(call);
  if (!("pending" in reply)) throw new Error(`not asking but ${reply.reason}`);
  const confirm = reply.pending.map(({ toolCallId }) => ({ toolCallId, approve: true, remember }));
  return agent.call({ confirm }, session);
}

test("rules of the options decide: deny before ask before allow", async () => {
  const desk = await newDesk({
    mode: "bypass",
    rules: {
      allow: ["execute(echo:*)"],
      ask: ["execute(echo ask:*)", "send"],
      deny: ["execute(echo deny:*)"],
    },
  });
  const calls = ["echo hi", "echo ask me", "echo deny me", "echo hi; echo ask; echo deny"];
  expect(await desk.use(...calls.map(execute), sends)).toEqual([
    ...["runs", "asks", "denied", "denied"],
    "asks",
  ]);
});

test("rules of the session come on top, and take effect with its next call", async () => {
  const desk = await newDesk({ rules: { allow: ["execute(echo:*)"] } });
  expect(await desk.use(execute("echo hi"), sends)).toEqual(["runs", "asks"]);
  await desk.agent.updateAgentState(session, ({ permissionContext }) => {
    permissionContext.allow = [{ tool: "send" }];
    permissionContext.deny = [{ tool: "execute", pattern: "echo:*", source: "the administrator" }];
  });
  expect(await desk.use(execute("echo hi"), sends)).toEqual(["denied", "runs"]);
  await desk.agent.updateAgentState(session, ({ permissionContext }) => {
    permissionContext.deny = [];
    permissionContext.ask = [{ tool: "*" }];
  });
  expect(await desk.use(execute("echo hi"), sends, read("a"))).toEqual(["asks", "asks", "asks"]);
});

describe.each(["session", "user"] as const)("a rule remembered for the %s", (scope) => {
  test("allows the call that it was made for, and no other", async () => {
    const desk = await newDesk();
    await approve(desk, execute("echo a && echo b"), scope);
    expect(await desk.agent.rememberedRules(session)).toEqual([
      { tool: "execute", pattern: "echo a", scope },
      { tool: "execute", pattern: "echo b", scope },
    ]);
    const commands = [
      "echo b",
      "echo a; echo b",
      "echo c",
      "echo a b",
      "echo a > f",
      "echo a & ls",
    ];
    expect(await desk.use(...commands.map(execute))).toEqual([
      ...["runs", "runs", "asks", "asks"],
      ...["asks", "asks"],
    ]);
  });

  test("loses against deny and ask rules, and asks again once it is forgotten", async () => {
    const desk = await newDesk();
    await approve(desk, sends, scope);
    expect(await desk.use(sends)).toEqual(["runs"]);
    const put = (list: "ask" | "deny", rules: readonly PermissionRule[]) =>
      desk.agent.updateAgentState(session, ({ permissionContext }) => {
        permissionContext[list] = rules;
      });
    await put("ask", [{ tool: "send" }]);
    expect(await desk.use(sends)).toEqual(["asks"]);
    await put("deny", [{ tool: "send" }]);
    expect(await desk.use(sends)).toEqual(["denied"]);
    await put("ask", []);
    await put("deny", []);
    expect(await desk.use(sends)).toEqual(["runs"]);
    expect(await desk.agent.forgetRules(session, { scope })).toBe(1);
    expect(await desk.use(sends)).toEqual(["asks"]);
  });

  test("lets a call run where nobody is asked, and not in explore", async () => {
    const desk = await newDesk();
    await approve(desk, sends, scope);
    await desk.agent.setPermissionMode(session, "dont_ask");
    expect(await desk.use(sends, execute("ls"))).toEqual(["runs", "denied"]);
    await desk.agent.setPermissionMode(session, "explore");
    expect(await desk.use(sends)).toEqual(["denied"]);
  });

  test("may be one of the person's own", async () => {
    const desk = await newDesk();
    const rules = [{ tool: "execute", pattern: "echo:*" }];
    await approve(desk, execute("echo a"), { scope, rules });
    expect(await desk.use(execute("echo b"), execute("ls"))).toEqual(["runs", "asks"]);
  });

  test.each([
    [{ tool: "sned" }, /names a tool the agent does not have; did you mean send\?/],
    [{ tool: "nothing_*" }, /matches no tool of the agent/],
    [{ tool: "send", pattern: "ann" }, /send declares no subject/],
    [{ tool: "execute", pattern: " " }, /has an empty specifier/],
    [{ tool: "execute", pattern: "a\nb" }, /control character/],
    [{ tool: "execute", pattern: "x".repeat(2_001) }, /2001 characters/],
  ])("is refused when it could never match: %j", async (rule, words) => {
    const desk = await newDesk();
    const remember = { scope, rules: [{ tool: "send" }, rule] };
    const error = await approve(desk, sends, remember).catch((reason) => reason);
    expect(error).toSatisfy(InvalidInputError.is);
    expect(error.message).toMatch(words);
    expect(await desk.agent.rememberedRules(session)).toEqual([]);
    expect(await desk.agent.pending(session)).toHaveLength(1);
  });
});

test("an approval of an edited call remembers what was approved, not what the model wanted", async () => {
  const desk = await newDesk();
  const reply = await desk.ask(execute("echo wanted"));
  const pending = "pending" in reply ? reply.pending : [];
  expect(pending[0]?.suggestions).toMatchObject([{ text: "Always allow `echo wanted`" }]);
  const confirm = pending.map(({ toolCallId }) => ({
    ...{ toolCallId, approve: true, remember: "session" as const },
    input: { command: "echo edited" },
  }));
  await desk.agent.call({ confirm }, session);
  expect(await desk.use(execute("echo edited"), execute("echo wanted"))).toEqual(["runs", "asks"]);
});

test("an edited call is judged anew: a deny rule holds against the person's approval", async () => {
  const desk = await newDesk({ rules: { deny: ["execute(touch:*)"] } });
  const reply = await desk.ask(execute("echo a"));
  const confirm = ("pending" in reply ? reply.pending : []).map(({ toolCallId }) => ({
    ...{ toolCallId, approve: true, input: { command: "touch made.txt" } },
  }));
  expect(confirm).toHaveLength(1);
  await desk.agent.call({ confirm }, session);
  expect(existsSync(join(desk.files, "made.txt"))).toBe(false);
});

describe("an agent is not built with a rule", () => {
  test.each([
    ["sned", /rule "sned" names a tool the agent does not have; did you mean send\?/],
    ["files_*", /rule "files_\*" matches no tool of the agent/],
    ["send(ann)", /rule "send\(ann\)" has a specifier, but send declares no subject/],
    ["execute(", /has no closing parenthesis/],
    ["execute()", /has an empty specifier/],
    ["execute(:*)", /has an empty specifier/],
    ["(ls)", /names no tool/],
    ["execute ls", /is not a rule/],
    ["execute(ls\u0000)", /control character/],
  ])("%j", async (rule, words) => {
    for (const list of ["allow", "ask", "deny"] as const) {
      const error = await newDesk({ rules: { [list]: [rule] } }).catch((reason) => reason);
      expect(error).toSatisfy(ConfigurationError.is);
      expect(error.message).toMatch(words);
    }
  });

  test("and every wrong one is named at once", async () => {
    const rules = { allow: ["sned"], ask: ["send(x)"], deny: ["raed_file(./.env)"] };
    const error = await newDesk({ rules }).catch((reason) => reason);
    for (const words of ["sned", "send(x)", "raed_file"]) expect(error.message).toContain(words);
  });
});

describe("tools that come while the agent runs", () => {
  const list = (name: string, readOnly = false) =>
    tool({ name, description: name, input: z.object({}), readOnly, execute: () => "ok" });
  const call = (name: string) => ({ name, input: {} });

  test("are decided about by rules with wildcards, which need not match when the agent is built", async () => {
    let tools = [list("files_list", true), list("files_move")];
    const rules = { allow: ["files_*"], deny: ["files_delete", "web_*"] };
    const desk = await newDesk({ rules }, { plugins: [toolsOf(() => tools)] });
    expect(await desk.use(call("files_list"), call("files_move"))).toEqual(["runs", "runs"]);
    tools = [
      ...tools,
      list("files_delete"),
      list("web_post"),
      list("mail_send"),
      list("mail_read", true),
    ];
    const names = ["files_delete", "web_post", "mail_send", "mail_read", "files_move"];
    expect(await desk.use(...names.map(call))).toEqual([
      ...["denied", "denied", "asks", "runs"],
      "runs",
    ]);
  });

  test("are held back by explore unless they are read-only, and their rules can be remembered", async () => {
    const tools = [list("files_list", true), list("files_move")];
    const desk = await newDesk({ mode: "explore" }, { plugins: [toolsOf(() => tools)] });
    expect(await desk.use(call("files_list"), call("files_move"))).toEqual(["runs", "denied"]);
    await desk.agent.setPermissionMode(session, "default");
    await approve(desk, call("files_move"), "user");
    expect(await desk.agent.rememberedRules(session)).toEqual([
      { tool: "files_move", scope: "user" },
    ]);
    expect(await desk.use(call("files_move"))).toEqual(["runs"]);
  });
});

describe("the deny rule read_file(./.env)", () => {
  async function deskWithEnv() {
    const rules = { allow: ["execute(cat:*)"], deny: ["read_file(./.env)"] };
    const desk = await newDesk({ rules }, { tools: [send] });
    await mkdir(join(desk.files, "sub"), { recursive: true });
    await writeFile(join(desk.files, ".env"), "SECRET=1");
    await writeFile(join(desk.files, "open.txt"), "open");
    return desk;
  }

  test("holds for every way in which read_file can name the file", async () => {
    const desk = await deskWithEnv();
    const paths = [".env", "./.env", "sub/../.env", "././/.env", "open.txt"];
    expect(await desk.use(...paths.map(read))).toEqual([
      ...["denied", "denied", "denied", "denied"],
      "runs",
    ]);
  });

  test("holds for a command that opens the file, also by its whole name and from another directory", async () => {
    const desk = await deskWithEnv();
    const commands = ["cat < .env", "cat <.env", "cat < ./sub/../.env", `cat < ${desk.files}/.env`];
    expect(await desk.use(...commands.map(execute), execute("cat < open.txt"))).toEqual([
      ...["denied", "denied", "denied", "denied"],
      "runs",
    ]);
    const doubtful = ['cat < "$HOME/.env"', "cat < .e*", "cd sub && cat < ../.env"];
    const outcomes = await desk.use(...doubtful.map(execute));
    expect(outcomes).not.toContain("runs");
  });
});
