import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError, tool } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { newDesk, session, toolsOf } from "./desk.js";

const execute = (command: string) => ({ name: "execute", input: { command } });
const read = (path: string) => ({ name: "read_file", input: { path } });
const sends = { name: "send", input: {} };

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
    await desk.approve(call("files_move"), "user");
    expect(await desk.agent.rememberedRules(session)).toEqual([
      { tool: "files_move", scope: "user" },
    ]);
    expect(await desk.use(call("files_move"))).toEqual(["runs"]);
  });
});

describe("the deny rule read_file(./.env)", () => {
  async function deskWithEnv() {
    const rules = { allow: ["execute(cat:*)"], deny: ["read_file(./.env)"] };
    const desk = await newDesk({ rules });
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
