import { once } from "node:events";
import { compaction } from "@holdfast/compaction";
import {
  type Confirmation,
  type DistributedStore,
  InvalidInputError,
  type Message,
  type PendingCall,
  PendingConfirmationError,
  type PermissionMode,
  type PlanModeContext,
  ReActAgent,
  type Task,
  textOf,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { permissions } from "@holdfast/permissions";
import { type SubagentsPlugin, subagents, type TaskRecord } from "@holdfast/subagents";
import {
  eventually,
  type ScriptedReply,
  type ScriptedToolCall,
  scriptedModel,
} from "@holdfast/testing";
import { expect } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem, takePairingProblems } from "../engine/valid-pairing.js";
import type { Choice, ControlStep, WantedCall } from "./random-control.js";

/** A session that steps are taken on, and everything that must be true of it after each of them. */
export class ControlledSession {
  readonly #stores: readonly DistributedStore[];
  readonly #session: { readonly userId: string; readonly sessionId: string };
  readonly #runs = new Map<string, number>();
  readonly #answered = new Set<string>();
  readonly #interrupts: Promise<unknown>[] = [];
  /** What the sections have to hold. */
  readonly #rules = { session: new Set<string>(), user: new Set<string>() };
  #mode: PermissionMode = "default";
  #plan: PlanModeContext = { active: false, planFile: null };
  #tasks: readonly Task[] = [];
  /** Tasks that are over, as they were first seen. */
  readonly #ended = new Map<string, TaskRecord>();
  #agent: ReActAgent;
  #team: SubagentsPlugin;
  #restarts = 0;
  #pending: readonly PendingCall[] = [];

  /** @param stores - nodes of one store, among which restarts take turns */
  constructor(stores: readonly DistributedStore[], userId: string) {
    this.#stores = stores;
    this.#session = { userId, sessionId: "s" };
    [this.#agent, this.#team] = this.#makeAgent();
  }

  /** Ends everything that is still open; then every task has been told, once. */
  async end(): Promise<void> {
    await this.take({ kind: "interrupt" });
    for (const { taskId } of await this.#settled()) await this.#team.cancel(this.#session, taskId);
    // One request tells of ten at most, and not of one whose session is just being saved.
    await eventually(
      async () => {
        await this.#say({ kind: "say", calls: [], onPending: "refuse" });
        return (await this.#untold()) === 0;
      },
      { what: "that every task is told" },
    );
    await this.#check();
    await this.#agent.close();
  }

  async #untold(): Promise<number> {
    const told = toldTasks(await this.#log());
    const tasks = await this.#settled();
    return tasks.filter(({ taskId }) => !told.some((one) => one.taskId === taskId)).length;
  }

  /** Takes a step, and checks the session after it. */
  async take(step: ControlStep): Promise<void> {
    const before = this.#pending;
    await this.#act(step);
    await Promise.all(this.#interrupts.splice(0));
    const inBackground = await this.#askingInBackground();
    this.#pending = await this.#agent.pending(this.#session);
    const open = new Set(this.#pending.map(({ toolCallId }) => toolCallId));
    for (const id of open) expect(this.#answered.has(id), `${id} asks again`).toBe(false);
    // A question that was taken back from the person stays that of the task, which can ask again.
    for (const { toolCallId } of before)
      if (!open.has(toolCallId) && !inBackground.has(toolCallId)) this.#answered.add(toolCallId);
    await this.#check();
  }

  async #act(step: ControlStep): Promise<void> {
    switch (step.kind) {
      case "say":
        return this.#say(step);
      case "answer":
        return this.#answer(step.choices);
      case "answer again":
        return this.#answerAgain();
      case "interrupt": {
        const done = await this.#agent.interrupt(this.#session);
        expect(done).toBe(this.#pending.length > 0 && "closed_asks");
        return;
      }
      case "compact":
        return this.#compact();
      case "mode":
        this.#mode = step.mode;
        return this.#agent.setPermissionMode(this.#session, step.mode);
      case "plan":
        this.#plan = { active: true, planFile: step.planFile, enteredBy: "application" };
        this.#tasks = step.tasks;
        await this.#agent.updateAgentState(this.#session, (state) => {
          state.planModeContext = this.#plan;
          state.tasksContext.tasks = this.#tasks;
        });
        return;
      case "forget": {
        const { scope } = step;
        const forgotten = await this.#agent.forgetRules(this.#session, { scope });
        expect(forgotten).toBe(this.#rules[scope].size);
        this.#rules[scope].clear();
        return;
      }
      case "answer task": {
        const { taskId } = (await this.#backgroundTask()) ?? {};
        if (taskId === undefined) return;
        const asking = await this.#team.pending(this.#session, taskId);
        const confirm = asking.map(({ toolCallId }, index) => {
          this.#answered.add(toolCallId);
          return { toolCallId, approve: step.approve[index] ?? true };
        });
        await this.#team.confirm(this.#session, taskId, confirm);
        return;
      }
      case "cancel task": {
        const { taskId } = (await this.#backgroundTask()) ?? {};
        if (taskId !== undefined) await this.#team.cancel(this.#session, taskId);
        return;
      }
      case "restart":
        await this.#agent.close();
        this.#restarts++;
        [this.#agent, this.#team] = this.#makeAgent();
    }
  }

  async #say({ calls, onPending }: Extract<ControlStep, { kind: "say" }>): Promise<void> {
    const { taskId = "none" } = (await this.#backgroundTask()) ?? {};
    const wanted = calls.map((call) => scripted(call, taskId));
    const said = this.#agent.call(JSON.stringify(wanted), { ...this.#session, onPending });
    // A call whose subagent was answered or cancelled elsewhere waits for nothing: it runs again.
    if (this.#asking.length > 0 && onPending === "refuse")
      await expect(said).rejects.toSatisfy(PendingConfirmationError.is);
    else await said;
  }

  get #asking(): readonly PendingCall[] {
    return this.#pending.filter(({ state }) => state === "asking");
  }

  async #answer(choices: readonly Choice[]): Promise<void> {
    const chosen = this.#asking.flatMap((call, index) => {
      const choice = choices[index % choices.length] ?? "leave";
      return choice === "leave" ? [] : [{ call, choice }];
    });
    if (chosen.length === 0) return;
    const confirm = chosen.map(({ call, choice }) => confirmation(call.toolCallId, choice));
    const answered = this.#agent.call({ confirm }, this.#session);
    const remembered = chosen.flatMap(({ call, choice }) =>
      choice === "session" || choice === "user" ? [{ scope: choice, call }] : [],
    );
    // A guard that suggests nothing now, in another mode, leaves nothing to remember: no answer is taken then.
    if (remembered.some(({ call: { suggestions = [] } }) => suggestions.length === 0)) {
      await expect(answered).rejects.toSatisfy(InvalidInputError.is);
      return;
    }
    await answered;
    for (const { scope, call } of remembered)
      for (const { pattern = "" } of call.suggestions ?? []) this.#rules[scope].add(pattern);
  }

  async #answerAgain(): Promise<void> {
    const [toolCallId] = this.#answered;
    if (toolCallId === undefined) return;
    const confirm = [{ toolCallId, approve: true }];
    await expect(this.#agent.call({ confirm }, this.#session)).rejects.toSatisfy(
      InvalidInputError.is,
    );
  }

  /** Compacts: every section but the messages, and every call that asks, is what it was. */
  async #compact(): Promise<void> {
    const kept = async () => {
      const state = await this.#agent.getAgentState(this.#session);
      const { permissionContext, planModeContext, tasksContext, openCalls, extensions } =
        state ?? {};
      const pending = await this.#agent.pending(this.#session);
      const sections = { permissionContext, planModeContext, tasksContext, openCalls, extensions };
      return structuredClone({ ...sections, pending, delegated: await this.#settled() });
    };
    const before = await kept();
    await this.#agent.compact(this.#session, { force: true });
    expect(await kept()).toEqual(before);
  }

  async #check(): Promise<void> {
    expect(takePairingProblems()).toEqual([]);
    for (const [id, runs] of this.#runs) expect(runs, `runs of ${id}`).toBe(1);
    const state = await this.#agent.getAgentState(this.#session);
    if (state) {
      expect(stateProblem(state)).toBeNull();
      expect(state.planModeContext).toEqual(this.#plan);
      expect(state.tasksContext.tasks).toEqual(this.#tasks);
      expect(state.permissionContext.mode).toBe(this.#mode);
    }
    const rules = await this.#agent.rememberedRules(this.#session);
    const named = rules.map(({ scope, tool: name, pattern }) => `${scope} ${name} ${pattern}`);
    const expected = (["session", "user"] as const).flatMap((scope) =>
      [...this.#rules[scope]].map((pattern) => `${scope} note ${pattern}`),
    );
    expect(named.sort()).toEqual(expected.sort());
    const log = await this.#log();
    this.#checkTasks(await this.#settled(), toldTasks(log));
    const results = log.flatMap(toolResultsOf);
    const ids = results.map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size, "each call has one result").toBe(ids.length);
  }

  /** Checks that a task that is over stays as it was, and that its end is told as it was, once. */
  #checkTasks(tasks: readonly TaskRecord[], told: readonly ToldTask[]): void {
    for (const task of tasks) {
      const seen = this.#ended.get(task.taskId);
      if (seen) expect(task).toEqual(seen);
      else if (task.endedAt !== null) this.#ended.set(task.taskId, task);
    }
    for (const { taskId, status } of told)
      expect(this.#ended.get(taskId)?.status, `what was told of ${taskId}`).toBe(status);
    const ids = told.map(({ taskId }) => taskId);
    expect(new Set(ids).size, "each task is told once").toBe(ids.length);
  }

  /** Returns the tasks of the session once none of them runs. */
  async #settled(): Promise<readonly TaskRecord[]> {
    return eventually<readonly TaskRecord[]>(
      async () => {
        const tasks = await this.#team.tasks(this.#session);
        if (tasks.some(({ status }) => status === "running")) throw new Error("one runs");
        return tasks;
      },
      { what: "the end of the tasks" },
    );
  }

  /** Returns the ids of the calls that tasks in the background ask about. */
  async #askingInBackground(): Promise<ReadonlySet<string>> {
    const tasks = (await this.#settled()).filter(({ isBackground }) => isBackground);
    const asks = tasks.map(({ taskId }) => this.#team.pending(this.#session, taskId));
    return new Set((await Promise.all(asks)).flat().map(({ toolCallId }) => toolCallId));
  }

  async #backgroundTask(): Promise<TaskRecord | undefined> {
    const tasks = await this.#settled();
    return tasks.find(({ status, isBackground }) => status === "waiting" && isBackground);
  }

  async #log(): Promise<readonly Message[]> {
    const [{ log }] = this.#stores as [DistributedStore];
    const records = await log.read({ agentId: "clerk", ...this.#session }, { limit: 1_000 });
    return records.flatMap(({ message }) => message ?? []);
  }

  #makeAgent(): [ReActAgent, SubagentsPlugin] {
    const summaries = scriptedModel(() => "A summary.");
    const team = subagents({
      directory: false,
      agents: [{ name: "helper", description: "Helps." }],
    });
    const agent = new ReActAgent({
      name: "clerk",
      model: pairedModel(({ messages }): ScriptedReply => {
        const asked = messages.findLastIndex(
          (message) => message.role === "user" && textOf(message) !== "",
        );
        const isNew = messages.slice(asked).every(({ role }) => role === "user");
        const calls = isNew && asked >= 0 ? callsIn(textOf(messages[asked] as Message)) : [];
        const told = messages.flatMap(noticesIn).join("");
        return calls.length > 0 ? { text: told, toolCalls: calls } : `${told}Done.`;
      }),
      distributedStore: this.#stores[this.#restarts % this.#stores.length] as DistributedStore,
      tools: ["look", "note", "wipe", "halt"].map((name) => this.#tool(name)),
      plugins: [
        permissions({ rules: { allow: ["halt"], deny: ["wipe"] } }),
        compaction({ triggerMessages: 8, keepMessages: 2, model: summaries }),
        team,
      ],
    });
    return [agent, team];
  }

  #tool(name: string) {
    return tool({
      name,
      description: "Does something.",
      input: z.object({ text: z.string() }),
      readOnly: name === "look",
      permission: { subject: ({ text }) => ({ kind: "text", value: text }) },
      execute: async ({ text }, { toolCallId, signal }) => {
        this.#runs.set(toolCallId, (this.#runs.get(toolCallId) ?? 0) + 1);
        if (name !== "halt" || !signal) return `${name} ${text}`;
        // It resolves once the call has ended, which waits for this tool.
        this.#interrupts.push(this.#agent.interrupt(this.#session));
        await once(signal, "abort");
        return "halted";
      },
    });
  }
}

function confirmation(toolCallId: string, choice: Choice): Confirmation {
  switch (choice) {
    case "deny":
      return { toolCallId, approve: false, reason: "No." };
    case "stop":
      return { toolCallId, approve: false, interrupt: true };
    case "edit":
      return { toolCallId, approve: true, input: { text: "edited" } };
    case "session":
    case "user":
      return { toolCallId, approve: true, remember: choice };
    default:
      return { toolCallId, approve: true };
  }
}

/** Returns a call as the model makes it. */
function scripted(call: WantedCall, taskId: string): ScriptedToolCall {
  switch (call.name) {
    case "agent_spawn": {
      const timeoutSeconds = call.waits ? 600 : 0;
      const task = JSON.stringify(call.calls);
      return { name: call.name, input: { agent: "helper", task, timeoutSeconds } };
    }
    case "task_output":
      return { name: call.name, input: { taskId, block: true } };
    default:
      return call;
  }
}

/** One time that the model was told how a task ended. */
interface ToldTask {
  readonly taskId: string;
  readonly status: string;
}

const endOfTask = /Task (task_\w+) of helper: (completed|failed|cancelled|lost)/g;

/** What the notices in a request say, for the model to repeat. */
function noticesIn({ content }: Message): readonly string[] {
  const texts = content.flatMap((block) => (block.type === "hint" ? block.text : []));
  return texts.flatMap((text) => text.match(endOfTask) ?? []).map((end) => `[${end}]`);
}

/** Returns what the model was told, by notices that it has repeated and by results of tools. */
function toldTasks(log: readonly Message[]): readonly ToldTask[] {
  const texts = log.flatMap((message) => [
    ...(message.role === "assistant" ? [textOf(message)] : []),
    ...toolResultsOf(message).map(({ output }) => JSON.stringify(output)),
  ]);
  return texts
    .flatMap((text) => [...text.matchAll(endOfTask)])
    .map(([, taskId = "", status = ""]) => ({ taskId, status }));
}

/** Calls that a message lists as JSON; none in a summary. */
function callsIn(text: string): readonly ScriptedToolCall[] {
  return text.startsWith("[") ? JSON.parse(text) : [];
}
