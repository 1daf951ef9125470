import { definePlugin, InMemoryFilesystem, InMemoryOffloader, ReActAgent } from "@holdfast/core";
import type { FileNamespace, FileVisit } from "@holdfast/core/plugin-kit";
import { scriptedModel } from "@holdfast/testing";
import { workspace } from "@holdfast/workspace";
import { describe, expect, test } from "vitest";
import { put, readText } from "../tools/tool-bench.js";
import { ada, agentWith, probe } from "./agent-with.js";

describe("the filesystem", () => {
  test("is the agent's own where it has one, else the one given, and is closed only if it was made here", async () => {
    const closed: string[] = [];
    const given = (name: string) =>
      Object.assign(new InMemoryFilesystem(), { close: async () => void closed.push(name) });
    const [agents, options] = [given("agent's"), given("option's")];
    const namespace = { agentId: "agent", ...ada };
    for (const [filesystem, expected] of [
      [undefined, options],
      [agents, agents],
    ] as const) {
      const { agent, use } = agentWith([workspace({ filesystem: options })], { filesystem });
      await use(ada, "write_file", { path: "a.txt", content: "x" });
      expect(await readText(expected, "a.txt", namespace)).toBe("x");
      await expected.delete(namespace, "a.txt");
      await agent.close();
    }
    expect(closed).toEqual([]);
  });

  test("must come from somewhere", () => {
    const model = scriptedModel([]);
    const build = () => new ReActAgent({ name: "agent", model, plugins: [workspace()] });
    expect(build).toThrow('plugin "workspace" needs a filesystem');
    expect(
      () =>
        new ReActAgent({
          name: "agent",
          model,
          plugins: [workspace()],
          filesystem: new InMemoryFilesystem(),
        }),
    ).not.toThrow();
  });

  test("from a plugin set up later serves all the same; execute then says what it cannot do", async () => {
    const filesystem = new InMemoryFilesystem();
    const later = definePlugin({
      name: "later",
      contract: 1,
      setup: (host) => host.provide("filesystem", filesystem),
    });
    const { use } = agentWith([workspace(), later]);
    expect((await use(ada, "write_file", { path: "a.txt", content: "x" })).outcome).toBe("success");
    const { text, outcome } = await use(ada, "execute", { command: "ls" });
    expect([outcome, text]).toEqual(["error", expect.stringContaining("cannot run commands")]);
  });

  test("is entered before a call and left after it, also when the call fails", async () => {
    const visits = new Visits();
    const model = scriptedModel([{ error: new Error("the model is down") }, "hello"]);
    const agent = new ReActAgent({
      name: "agent",
      model,
      plugins: [workspace({ filesystem: visits })],
    });
    await expect(agent.call("hi", ada)).rejects.toThrow("the model is down");
    expect(visits.events).toEqual(["enter ada", "leave ada"]);
    visits.problem = new Error("could not be kept");
    await expect(agent.call("hi", ada)).rejects.toThrow("could not be kept");
    expect(visits.events).toEqual(["enter ada", "leave ada", "enter ada", "leave ada"]);
    await agent.close();
  });
});

describe("the offloader", () => {
  test("is the workspace's unless the agent has its own", async () => {
    const own = new InMemoryOffloader();
    const filesystem = new InMemoryFilesystem();
    for (const offloader of [own, undefined]) {
      const { found, plugin } = probe();
      agentWith([workspace({ filesystem }), plugin], { offloader });
      expect(found.offloader?.() === own).toBe(offloader === own);
    }
  });

  test("brings a tool of its own where there are no file tools, which reads nothing else", async () => {
    const filesystem = new InMemoryFilesystem();
    const { found, plugin } = probe();
    const { model, use } = agentWith([workspace({ filesystem, tools: false }), plugin]);
    await put(filesystem, "private.txt", "x", { agentId: "agent", ...ada });
    const answer = await found.offloader?.()?.offloadToolResult(
      { agentId: "agent", ...ada },
      {
        type: "tool_result",
        toolCallId: "c",
        name: "look",
        state: "success",
        output: [{ type: "text", text: "much" }],
      },
    );
    const { reference, readBack } = typeof answer === "object" ? answer : {};
    expect(readBack).toContain("Read it with read_offloaded");
    expect((await use(ada, "read_offloaded", { path: reference })).text).toContain("1\tmuch");
    for (const path of ["private.txt", "data/../private.txt"])
      expect((await use(ada, "read_offloaded", { path })).outcome).toBe("error");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["read_offloaded"]);
    expect(model.requests[0]?.system).not.toContain("# Workspace");
  });
});

/** Counts the calls that are in it. */
class Visits extends InMemoryFilesystem {
  readonly events: string[] = [];
  problem: Error | undefined;

  async enter({ userId }: FileNamespace): Promise<FileVisit> {
    this.events.push(`enter ${userId}`);
    return {
      leave: async () => {
        this.events.push(`leave ${userId}`);
        if (this.problem) throw this.problem;
      },
    };
  }
}
