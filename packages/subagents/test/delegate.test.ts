import { type AgentEvent, ReActAgent, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { subagents } from "../src/index.js";

const session = { userId: "ann", sessionId: "s" };

test("a subagent's result is the result of agent_spawn", async () => {
  const events: AgentEvent[] = [];
  const model = scriptedModel((request) => {
    if (request.system.includes("You look things up")) return "Oslo";
    const last = request.messages.at(-1);
    if (last?.role === "tool") return "The capital is Oslo.";
    return {
      toolCalls: [{ name: "agent_spawn", input: { agent: "finder", task: "Capital of Norway?" } }],
    };
  });
  const agent = new ReActAgent({
    name: "lead",
    model,
    onEvent: (event) => void events.push(event),
    plugins: [
      subagents({
        agents: [{ name: "finder", description: "Finds.", systemPrompt: "You look things up" }],
      }),
    ],
  });
  const reply = await agent.call("Capital?", session);
  expect(reply.text).toBe("The capital is Oslo.");
  const state = await agent.getAgentState("ann", "s");
  expect(JSON.stringify(state?.context)).toContain("<task>\\nOslo\\n</task>");
  await agent.close();
});

test("a subagent's ask is the session's ask", async () => {
  const ran: string[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: z.object({ n: z.number() }),
    needsApproval: true,
    execute: ({ n }) => {
      ran.push(String(n));
      return "paid";
    },
  });
  const model = scriptedModel((request) => {
    const last = request.messages.at(-1);
    if (request.system.includes("You pay"))
      return last?.role === "tool"
        ? "done paying"
        : { toolCalls: [{ name: "pay", input: { n: 5 } }] };
    if (last?.role === "tool") return "ok";
    return {
      toolCalls: [
        { name: "agent_spawn", input: { agent: "payer", task: "Pay 5", label: "bills" } },
      ],
    };
  });
  const agent = new ReActAgent({
    name: "lead",
    model,
    tools: [pay],
    plugins: [
      subagents({ agents: [{ name: "payer", description: "Pays.", systemPrompt: "You pay" }] }),
    ],
  });
  const reply = await agent.call("Pay!", session);
  expect(reply.reason).toBe("permission_asking");
  if (reply.reason !== "permission_asking") throw new Error();
  expect(reply.pending).toMatchObject([
    { name: "pay", agent: "payer", label: "bills", state: "asking", input: { n: 5 } },
  ]);
  expect(await agent.pending("ann", "s")).toMatchObject([{ name: "pay", agent: "payer" }]);
  await expect(agent.call("Hello?", session)).rejects.toThrow(/waits for an approval of pay/);
  const id = reply.pending[0]!.toolCallId;
  const next = await agent.call(
    { confirm: [{ toolCallId: id, approve: true, input: { n: 7 } }] },
    session,
  );
  expect(next.text).toBe("ok");
  expect(ran).toEqual(["7"]);
  await agent.close();
});

test("a background task is told once", async () => {
  let release = () => {};
  const gate = new Promise<void>((r) => {
    release = r;
  });
  const wait = tool({
    name: "wait",
    description: "w",
    input: z.object({}),
    execute: async () => {
      await gate;
      return "waited";
    },
  });
  const seen: string[] = [];
  const model = scriptedModel((request) => {
    const last = request.messages.at(-1);
    if (request.system.includes("slow"))
      return last?.role === "tool" ? "slow answer" : { toolCalls: [{ name: "wait", input: {} }] };
    seen.push(JSON.stringify(request.messages));
    const user = request.messages.findLast((m) => m.role === "user");
    if (last?.role === "tool") return "begun";
    if (JSON.stringify(user).includes("go"))
      return {
        toolCalls: [
          { name: "agent_spawn", input: { agent: "snail", task: "Slowly", timeoutSeconds: 0 } },
        ],
      };
    return "fine";
  });
  const team = subagents({
    agents: [{ name: "snail", description: "Slow.", systemPrompt: "slow" }],
  });
  const agent = new ReActAgent({ name: "lead", model, tools: [wait], plugins: [team] });
  expect((await agent.call("go", session)).text).toBe("begun");
  expect((await team.tasks(session)).map(({ status }) => status)).toEqual(["running"]);
  release();
  await expect.poll(async () => (await team.tasks(session))[0]?.status).toBe("completed");
  await agent.call("news?", session);
  await agent.call("more?", session);
  await agent.call("again?", session);
  expect(seen.filter((text) => text.includes("slow answer"))).toHaveLength(1);
  await agent.close();
});
