import {
  type AgentReply,
  type CallInput,
  type DistributedStore,
  definePlugin,
  type Filesystem,
  InMemoryFilesystem,
  keepLastCompactor,
  type ModelRequest,
  type PermissionMode,
  ReActAgent,
  type Tool,
  tool,
} from "@holdfast/core";
import { planning } from "@holdfast/planning";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { expect } from "vitest";
import { z } from "zod";
import type { Command } from "./commands.js";

const session = { userId: "ann", sessionId: "s" };
const slot = { agentId: "planner", ...session };
/** Beginnings of the reminders, which no result of a tool contains. */
const reminders = /Plan mode is on: look around|Open items of your todo list/;

/** Makes the store of one more node. */
export type OpenStore = () => DistributedStore;

/**
 * Plays commands on one session, checks after each what must always hold, and keeps books of its own on whether plan mode is
 * on, from what was announced.
 */
export class PlannedSession {
  readonly #open: OpenStore;
  readonly #filesystem: Filesystem | undefined;
  #store: DistributedStore;
  #agent: ReActAgent;
  #steps: ScriptedReply[] = [];
  #active = false;
  #byApplication = false;
  #mode: PermissionMode = "default";
  #approving = false;
  /** Sentences about what must not be. Tools and listeners cannot throw them: the engine would take them for failures. */
  readonly #faults: string[] = [];
  /** Number of writes that ran. */
  writes = 0;
  /** Number of plans that were approved. */
  approvals = 0;

  constructor(open: OpenStore, hasFiles: boolean) {
    this.#open = open;
    this.#filesystem = hasFiles ? new InMemoryFilesystem() : undefined;
    this.#store = open();
    this.#agent = this.#start();
  }

  async play(command: Command): Promise<void> {
    await this.#run(command);
    await this.#check();
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  async #run(command: Command): Promise<void> {
    const agent = this.#agent;
    switch (command.type) {
      case "say":
        this.#steps = [...command.steps];
        await this.#call("go");
        return;
      case "fail": {
        this.#steps = [...command.steps, { error: new Error("the model is away") }];
        await this.#call("go").catch(() => undefined);
        // What a failed call did is kept or taken back as a whole: both are right.
        const state = await agent.getAgentState(session);
        this.#active = state?.planModeContext.active ?? false;
        this.#byApplication = state?.planModeContext.enteredBy === "application";
        return;
      }
      case "answer": {
        const asking = await agent.pending(session);
        if (asking.length === 0) return;
        this.#steps = [...command.steps];
        this.#approving = command.approve;
        const { approve } = command;
        const confirm = asking.map(({ toolCallId }) => ({ toolCallId, approve }));
        await this.#call({ confirm });
        this.#approving = false;
        return;
      }
      case "enter":
        await agent.enterPlanMode(session);
        this.#active = this.#byApplication = true;
        return;
      case "exit":
        await agent.exitPlanMode(session);
        this.#active = false;
        return;
      case "mode":
        await agent.updateAgentState(session, (state) => {
          state.permissionContext.mode = command.mode;
        });
        this.#mode = command.mode;
        return;
      case "compact":
        await agent.compact(session, { force: true });
        return;
      case "restart":
        await agent.close();
        this.#store = this.#open();
        this.#agent = this.#start();
    }
  }

  #call(input: CallInput): Promise<AgentReply> {
    return this.#agent.call(input, { ...session, onPending: "deny" });
  }

  async #check(): Promise<void> {
    expect(this.#faults).toEqual([]);
    const state = await this.#agent.getAgentState(session);
    if (!state) return;
    expect(state.planModeContext.active).toBe(this.#active);
    const { tasks } = state.tasksContext;
    expect(tasks.filter(({ status }) => status === "in_progress").length).toBeLessThan(2);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
    expect(state.toJson()).not.toMatch(reminders);
    expect(JSON.stringify(await this.#store.log.read(slot))).not.toMatch(reminders);
  }

  #start(): ReActAgent {
    const compactor = definePlugin({
      name: "short",
      contract: 1,
      setup: (host) => host.provide("compactor", keepLastCompactor({ keepMessages: 2 })),
    });
    return new ReActAgent({
      ...{ name: "planner", distributedStore: this.#store, filesystem: this.#filesystem },
      model: scriptedModel((request) => this.#reply(request), { keepRequests: 1 }),
      plugins: [planning(), compactor],
      tools: [this.#writer("write_note", false), this.#writer("ask_note", true), look],
      onEvent: ({ type }) => {
        if (type === "plan_entered") {
          this.#active = true;
          this.#byApplication = false;
        }
        if (type === "plan_exited") {
          if (!this.#approving) this.#faults.push("plan mode ended without an approval");
          if (this.#byApplication) this.#faults.push("the agent ended the application's plan mode");
          this.#active = false;
          this.approvals++;
        }
      },
    });
  }

  #reply({ messages, tools }: ModelRequest): ScriptedReply {
    const hints = messages.map(({ content }) => content.filter(({ type }) => type === "hint"));
    if (hints.slice(0, -1).some((found) => found.length > 0))
      this.#faults.push("a reminder is not at the end of a request");
    if (JSON.stringify(hints.at(-1)).includes('"plan_mode"') !== this.#active)
      this.#faults.push(`plan mode is ${this.#active ? "on and not told" : "off and told"}`);
    if (tools.some(({ name }) => name === "plan_enter") !== (this.#mode !== "dont_ask"))
      this.#faults.push(`the offer of plan_enter is wrong in mode ${this.#mode}`);
    return this.#steps.shift() ?? "ok";
  }

  #writer(name: string, needsApproval: boolean): Tool {
    return tool({
      ...{ name, description: "Writes a note.", input: z.object({}), needsApproval },
      execute: (_, { agentState }) => {
        if (this.#active || agentState?.planModeContext.active !== false)
          this.#faults.push("a write ran in plan mode");
        this.writes++;
        return "written";
      },
    });
  }
}

const look = tool({
  ...{ name: "look", description: "Looks.", input: z.object({}), readOnly: true },
  execute: () => "seen",
});
