import { once } from "node:events";
import { compaction } from "@holdfast/compaction";
import {
  type Confirmation,
  type DistributedStore,
  InvalidInputError,
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
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { expect } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem, takePairingProblems } from "../engine/valid-pairing.js";
import type { Choice, ControlStep } from "./random-control.js";

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
  #agent: ReActAgent;
  #restarts = 0;
  #pending: readonly PendingCall[] = [];

  /** @param stores - nodes of one store, among which restarts take turns */
  constructor(stores: readonly DistributedStore[], userId: string) {
    this.#stores = stores;
    this.#session = { userId, sessionId: "s" };
    this.#agent = this.#makeAgent();
  }

  /** Takes a step, and checks the session after it. */
  async take(step: ControlStep): Promise<void> {
    const before = this.#pending;
    await this.#act(step);
    await Promise.all(this.#interrupts.splice(0));
    this.#pending = await this.#agent.pending(this.#session);
    const open = new Set(this.#pending.map(({ toolCallId }) => toolCallId));
    for (const id of open) expect(this.#answered.has(id), `${id} asks again`).toBe(false);
    for (const { toolCallId } of before) if (!open.has(toolCallId)) this.#answered.add(toolCallId);
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
      case "restart":
        await this.#agent.close();
        this.#restarts++;
        this.#agent = this.#makeAgent();
    }
  }

  async #say({ calls, onPending }: Extract<ControlStep, { kind: "say" }>): Promise<void> {
    const said = this.#agent.call(JSON.stringify(calls), { ...this.#session, onPending });
    if (this.#pending.length > 0 && onPending === "refuse")
      await expect(said).rejects.toSatisfy(PendingConfirmationError.is);
    else await said;
  }

  async #answer(choices: readonly Choice[]): Promise<void> {
    const chosen = this.#pending.flatMap((call, index) => {
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
      const { permissionContext, planModeContext, tasksContext, openCalls } = state ?? {};
      const pending = await this.#agent.pending(this.#session);
      const sections = { permissionContext, planModeContext, tasksContext, openCalls };
      return structuredClone({ ...sections, pending });
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
    const [{ log }] = this.#stores as [DistributedStore];
    const records = await log.read({ agentId: "clerk", ...this.#session }, { limit: 1_000 });
    const results = records.flatMap(({ message }) => (message ? toolResultsOf(message) : []));
    const ids = results.map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size, "each call has one result").toBe(ids.length);
  }

  #makeAgent(): ReActAgent {
    const summaries = scriptedModel(() => "A summary.");
    return new ReActAgent({
      name: "clerk",
      model: pairedModel(({ messages }): ScriptedReply => {
        const last = messages.at(-1);
        const calls = last?.role === "user" ? callsIn(textOf(last)) : [];
        return calls.length > 0 ? { toolCalls: calls } : "Done.";
      }),
      distributedStore: this.#stores[this.#restarts % this.#stores.length] as DistributedStore,
      tools: ["look", "note", "wipe", "halt"].map((name) => this.#tool(name)),
      plugins: [
        permissions({ rules: { allow: ["halt"], deny: ["wipe"] } }),
        compaction({ triggerMessages: 8, keepMessages: 2, model: summaries }),
      ],
    });
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

/** Calls that a message lists as JSON; none in a summary. */
function callsIn(text: string): readonly { name: string; input: { text: string } }[] {
  return text.startsWith("[") ? JSON.parse(text) : [];
}
