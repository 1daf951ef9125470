import { HarnessAgent } from "@holdfast/harness";
import { subagents, type TaskRecord } from "@holdfast/subagents";
import { type ReplyFunction, scaled, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { holdfast } from "../support/in-process.js";
import { freshStore, storeKinds } from "../support/stores.js";
import { withStore } from "../support/talk.js";

interface Listing {
  readonly sessions: readonly { readonly agentId: string; readonly sessionId: string }[];
}

type Place = Awaited<ReturnType<typeof freshStore>>;

/** The lead has a researcher look something up, who has a checker check it. */
const delegating: ReplyFunction = ({ system, messages }) => {
  const spawn = (agent: string, task: string) => ({
    toolCalls: [{ name: "agent_spawn", input: { agent, task } }],
  });
  if (system.startsWith("You check")) return "The capital is Oslo indeed.";
  if (messages.at(-1)?.role === "tool") return "I have asked.";
  return system.startsWith("You research")
    ? spawn("checker", "Is it Oslo?")
    : spawn("researcher", "Capital of Norway?");
};

const team = () => {
  const agent = (name: string, systemPrompt: string) => ({ name, description: name, systemPrompt });
  return subagents({
    agents: [agent("researcher", "You research"), agent("checker", "You check")],
  });
};

/** Has Ada's lead delegate in two sessions; returns the tasks of one. */
async function delegate(store: Place, session?: string): Promise<readonly TaskRecord[]> {
  return withStore(store.url, async (distributedStore) => {
    const plugin = team();
    const agent = HarnessAgent.create({
      name: "lead",
      model: scriptedModel(delegating),
      distributedStore,
      workspace: store.workspace,
      plugins: [plugin],
    });
    const ids = { userId: "ada" };
    if (session === undefined)
      for (const sessionId of ["one", "two"]) await agent.call("Capital?", { ...ids, sessionId });
    const tasks = await plugin.tasks({ ...ids, sessionId: session ?? "one" });
    await agent.close();
    return tasks;
  });
}

async function listed(store: Place, ...flags: string[]): Promise<Listing["sessions"]> {
  const { json } = await holdfast(["sessions", "list", "--store", store.url, "--json", ...flags]);
  return json<Listing>().sessions;
}

describe.each(scaled(["json"], storeKinds))("sessions of subagents in %s", (kind) => {
  test("are listed, shown, searched and exported under the agents that they work for", async () => {
    await using store = await freshStore(kind);
    const [task] = await delegate(store);
    const owner = ["--agent", "lead/researcher", "--store", store.url];
    const found = await listed(store, "--agent", "lead/researcher");
    const id = task?.childSessionId ?? "";
    expect(found).toHaveLength(2);
    expect(found.map(({ sessionId }) => sessionId)).toContain(id);
    const shown = await holdfast(["sessions", "show", id, ...owner]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("Capital of Norway?")]);
    const hits = await holdfast(["sessions", "search", "norway", ...owner]);
    expect(hits.stdout).toContain(`${id} ada, lead/researcher`);
    const exported = await holdfast(["sessions", "export", id, ...owner]);
    expect(JSON.parse(exported.stdout.split("\n")[0] ?? "")).toMatchObject({
      slot: { agentId: "lead/researcher", userId: "ada", sessionId: id },
    });
  });

  test("are deleted with the session that they work for, and so are its tasks", async () => {
    await using store = await freshStore(kind);
    await delegate(store);
    const flags = ["--yes", "--store", store.url, "--workspace", store.workspace];
    const { stdout } = await holdfast(["sessions", "delete", "one", ...flags]);
    expect(stdout).toBe("Deleted 1 session, with 2 sessions of subagents.\n");
    const left = (await listed(store)).map(({ agentId }) => agentId);
    expect(left.toSorted()).toEqual(["lead", "lead/checker", "lead/researcher"]);
    expect(await delegate(store, "one")).toEqual([]);
    expect(await delegate(store, "two")).toHaveLength(1);
  });

  test("are deleted alone, with those of their own subagents; the task stays as it ended", async () => {
    await using store = await freshStore(kind);
    const [task] = await delegate(store);
    const flags = ["--yes", "--json", "--store", store.url, "--workspace", store.workspace];
    const id = task?.childSessionId ?? "";
    const { json } = await holdfast(["sessions", "delete", id, ...flags]);
    expect(json()).toMatchObject({
      deleted: [{ agentId: "lead/researcher", sessionId: id }],
      ofSubagents: [{ agentId: "lead/checker", userId: "ada" }],
    });
    const left = (await listed(store)).map(({ agentId }) => agentId);
    expect(left.toSorted()).toEqual(["lead", "lead", "lead/checker", "lead/researcher"]);
    expect(await delegate(store, "one")).toEqual([task]);
  });
});

test("migrate says that open tasks are not moved where agents have subagents", async () => {
  await using from = await freshStore("json");
  await using to = await freshStore("json");
  await delegate(from);
  const command = ["migrate", "--from", from.url, "--to", to.url];
  const note =
    "4 sessions of subagents among them: the records of their tasks are not moved, and neither are open background tasks\n";
  expect((await holdfast([...command, "--dry-run"])).stdout).toContain(note);
  const { code, stdout } = await holdfast(command);
  expect([code, stdout]).toEqual([0, expect.stringContaining(note)]);
  expect(await delegate(to, "one")).toEqual([]);
  const again = await holdfast([...command, "--json"]);
  const summary = JSON.parse(again.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(summary).toMatchObject({ outcomes: { present: 6 }, subagentSessions: 0 });
});
