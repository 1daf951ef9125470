import type { AgentEvent, Middleware } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { agentsWithSecrets, calling, redaction, type Seen } from "./agents-with-secrets.js";

describe.each([true, false])("onIncoming of tool results, fused: %s", (fused) => {
  const make = agentsWithSecrets(fused);

  test("changes a tool's result before the log, the context and the other hooks have it", async () => {
    const seen: Seen[] = [];
    const others: string[] = [];
    const other: Middleware = {
      name: "other",
      async onToolCall(_, next) {
        const result = await next();
        others.push(JSON.stringify(result));
        return result;
      },
      onToolResult(result) {
        others.push(JSON.stringify(result));
        return { ...result, output: [{ type: "text", text: "short" }] };
      },
    };
    const { agent, stored, model } = make(
      [calling("tells"), calling("fails"), "done"],
      [other, redaction(seen)],
    );
    await agent.call("go");
    const results = seen.filter(({ step }) => step.origin === "tool_result");
    expect(results.map(({ step }) => [step.call?.name, step.tool?.name])).toEqual([
      ["tells", "tells"],
      ["fails", "fails"],
    ]);
    expect(results[0]?.message).toMatchObject({
      role: "tool",
      content: [{ type: "tool_result", toolCallId: results[0]?.step.call?.id, state: "success" }],
    });
    expect(await stored()).not.toContain("secret");
    expect(await stored()).toContain("the [hidden] is 42");
    expect(others).toHaveLength(4);
    expect(others.join()).not.toContain("secret");
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("short");
  });

  test("what a tool threw reaches events as the hooks left it, whole where they left it alone", async () => {
    const errors: unknown[] = [];
    const onEvent = (event: AgentEvent) =>
      void (event.type === "tool_result" && errors.push(event.error));
    const script = [calling("fails"), "done"];
    await make(script, [redaction()], { onEvent }).agent.call("go");
    expect(errors).toEqual([{ name: "Error", message: "fails failed: no [hidden] here" }]);
    const copying: Middleware = { name: "m", onIncoming: (message) => ({ ...message }) };
    await make(script, [copying], { onEvent }).agent.call("go");
    expect(errors[1]).toMatchObject({
      message: "no secret here",
      stack: expect.stringContaining("agents-with-secrets"),
    });
  });

  test.each(["onToolCall", "onActing"] as const)(
    "changes a result that an %s hook makes by itself",
    async (hook) => {
      const seen: Seen[] = [];
      const answer = (id: string) =>
        ({
          type: "tool_result",
          toolCallId: id,
          name: "tells",
          output: [{ type: "text", text: "cached secret" }],
          state: "success",
        }) as const;
      const cache: Middleware = {
        name: "cache",
        ...(hook === "onToolCall"
          ? { onToolCall: async ({ call }) => answer(call.id) }
          : { onActing: async ({ calls }) => calls.map(({ id }) => answer(id)) }),
      };
      const { agent, stored } = make([calling("tells"), "done"], [cache, redaction(seen)]);
      await agent.call("go");
      expect(seen.map(({ step }) => step.origin)).toEqual(["input", "tool_result"]);
      expect(await stored()).toContain("cached [hidden]");
      expect(await stored()).not.toContain("cached secret");
    },
  );

  test("of a tool's result that a hook fails on, nothing is stored", async () => {
    const { agent, stored } = make(
      [calling("tells"), "done", "again"],
      [
        {
          name: "m",
          onIncoming(message, { origin }) {
            if (origin === "tool_result") throw new Error("cannot check it");
            return message;
          },
        },
      ],
    );
    await expect(agent.call("go")).rejects.toThrow("cannot check it");
    expect(await stored()).not.toContain("secret");
    expect(await stored()).toContain("The result of tells was withheld");
    expect((await agent.call("go on")).text).toBe("done");
  });
});
