import { InvalidInputError, type PermissionRule } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { newDesk, session } from "./desk.js";

const execute = (command: string) => ({ name: "execute", input: { command } });
const sends = { name: "send", input: {} };

describe.each(["session", "user"] as const)("a rule remembered for the %s", (scope) => {
  test("allows the call that it was made for, and no other", async () => {
    const desk = await newDesk();
    await desk.approve(execute("echo a && echo b"), scope);
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
    await desk.approve(sends, scope);
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
    await desk.approve(sends, scope);
    await desk.agent.setPermissionMode(session, "dont_ask");
    expect(await desk.use(sends, execute("ls"))).toEqual(["runs", "denied"]);
    await desk.agent.setPermissionMode(session, "explore");
    expect(await desk.use(sends)).toEqual(["denied"]);
  });

  test("may be given without a call that asks, once", async () => {
    const desk = await newDesk();
    const rules = [{ tool: "execute", pattern: "echo:*" }];
    await desk.agent.rememberRules(session, { scope, rules });
    await desk.agent.rememberRules("ann", "s", { scope, rules });
    expect(await desk.agent.rememberedRules(session)).toEqual([{ ...rules[0], scope }]);
    expect(await desk.use(execute("echo a"), sends)).toEqual(["runs", "asks"]);
    const wrong = [{ tool: "execute", pattern: "" }];
    await expect(desk.agent.rememberRules(session, { scope, rules: wrong })).rejects.toThrow(
      InvalidInputError,
    );
    await expect(desk.agent.rememberRules(session, { scope } as never)).rejects.toThrow(
      "rememberRules: rules",
    );
  });

  test("may be one of the person's own", async () => {
    const desk = await newDesk();
    const rules = [{ tool: "execute", pattern: "echo:*" }];
    await desk.approve(execute("echo a"), { scope, rules });
    expect(await desk.use(execute("echo b"), execute("ls"))).toEqual(["runs", "asks"]);
  });

  test.each([
    ["unknown tool", { tool: "sned" }, /names a tool the agent does not have; did you mean send\?/],
    ["pattern of unknown tools", { tool: "nothing_*" }, /matches no tool of the agent/],
    ["no subject", { tool: "send", pattern: "ann" }, /send declares no subject/],
    ["empty specifier", { tool: "execute", pattern: " " }, /has an empty specifier/],
    ["control character", { tool: "execute", pattern: "a\nb" }, /control character/],
    ["long specifier", { tool: "execute", pattern: "x".repeat(2_001) }, /2001 characters/],
  ])("is refused when it could never match: %s", async (_, rule, words) => {
    const desk = await newDesk();
    const remember = { scope, rules: [{ tool: "send" }, rule] };
    const error = await desk.approve(sends, remember).catch((reason) => reason);
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
