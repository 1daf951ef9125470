import {
  ConfigurationError,
  type Confirmation,
  definePlugin,
  InvalidInputError,
  type PendingCall,
  type Plugin,
  type PluginHost,
  RuntimeContext,
  type Slot,
  type Tool,
} from "@holdfast/core";
import { delegationOf, KeyedQueue, nearestName } from "@holdfast/core/plugin-kit";
import { uuidv7 } from "@holdfast/core/store-kit";
import { checkConfirm } from "./check-confirm.js";
import { ChildSessions } from "./child-sessions.js";
import { Catalogue } from "./definitions/catalogue.js";
import { hasTool, type SubagentDefinition } from "./definitions/subagent-definition.js";
import { LiveCalls } from "./live-calls.js";
import { readOptions, type SubagentsOptions, type SubagentsSettings } from "./subagents-options.js";
import { TaskChanges } from "./task-changes.js";
import { TaskControl } from "./task-control.js";
import { noticeStateSchema, TaskNotices } from "./task-notices.js";
import { taskRunOf } from "./task-run.js";
import { TaskRunner } from "./task-runner.js";
import type { TaskRecord } from "./tasks/task-record.js";
import { TaskStore } from "./tasks/task-store.js";
import { agentTools } from "./tools/agent-tools.js";
import { taskTools } from "./tools/task-tools.js";

/**
 * Lets an agent delegate: `agent_spawn`, `agent_send`, `agent_list`, `task_output`, `task_cancel` and `task_list`.
 *
 * - A subagent has the agent's stores, tools and guards, sessions of its own, and the permissions, plan mode, budget and files
 *   of the session that it works for. What it asks a person is asked as that session's own question.
 * - A task that takes longer than the agent waits goes on in the background. How it ended is told to the model once, also after
 *   a crash and on another node.
 * - A task whose process has died is reported as lost, or taken over if its definition says that it may be repeated.
 *
 * @throws ConfigurationError for invalid options
 * @example
 * HarnessAgent.builder().name("lead").model(model).use(subagents({
 *   agents: [{ name: "researcher", description: "Finds facts in the workspace.", tools: ["read_file", "grep_files"] }],
 * })).build();
 */
export function subagents(options: SubagentsOptions = {}): SubagentsPlugin {
  const settings = readOptions(options);
  let installed: Installed | undefined;
  const plugin = definePlugin({
    name: "subagents",
    contract: 1,
    setup(host) {
      installed = install(host, settings);
    },
  });
  const use = (): Installed => {
    if (!installed)
      throw new ConfigurationError("subagents: this plugin is not part of an agent yet");
    return installed;
  };
  const slotOf = ({ userId = null, sessionId }: SessionOfTasks): Slot => ({
    agentId: use().agentId,
    userId,
    sessionId,
  });
  return Object.freeze({
    ...plugin,
    async tasks(session) {
      const { store, control } = use();
      const slot = slotOf(session);
      const { tasks } = await store.list(slot);
      const ctx = RuntimeContext.empty();
      return Promise.all(tasks.map((task) => control.settle(slot, task, ctx)));
    },
    cancel: (session, taskId) => use().control.cancel(slotOf(session), taskId),
    async pending(session, taskId) {
      const { store, control } = use();
      const slot = slotOf(session);
      const record = await store.get(slot, taskId);
      return record ? control.pending(slot, record, RuntimeContext.empty()) : [];
    },
    async confirm(session, taskId, answers) {
      const { store, control } = use();
      // Its rules would be those of the subagent's session, which goes by other rules.
      if (answers.some((answer) => "remember" in answer && answer.remember !== undefined))
        throw new InvalidInputError(
          "subagents: confirm cannot remember rules; let the agent ask, with task_output, and answer that with agent.call({ confirm })",
        );
      const slot = slotOf(session);
      const record = await store.get(slot, taskId);
      if (record?.status !== "waiting") return record;
      const asked = await control.pending(slot, record, RuntimeContext.empty());
      checkConfirm(taskId, asked, answers);
      await control.answer(
        slot,
        record,
        { confirm: answers },
        RuntimeContext.of({ callId: uuidv7() }),
      );
      return store.get(slot, taskId);
    },
  } satisfies SubagentsPlugin);
}

/** Names a session by the ids that its calls have. */
export interface SessionOfTasks {
  readonly userId?: string | null | undefined;
  readonly sessionId: string;
}

/**
 * Plugin of {@link subagents}, with what programs need of its tasks. Its methods work once the agent is built, in any process
 * on the same stores; a plugin object belongs to one agent.
 */
export interface SubagentsPlugin extends Plugin {
  /**
   * Returns all tasks of a session, by the start of their current attempt. A task that no process works on any more is first
   * marked as lost, or taken over by this process when it is repeatable or was paused by a shutdown.
   */
  tasks(session: SessionOfTasks): Promise<readonly TaskRecord[]>;
  /** Cancels a task, in whichever process it runs, with the tasks that its subagent has given to others. Returns its record; null when there is none. */
  cancel(session: SessionOfTasks, taskId: string): Promise<TaskRecord | null>;
  /** Returns the tool calls that a task waits for a person to approve, for {@link confirm}, or else those with a question; none when it does not wait. */
  pending(session: SessionOfTasks, taskId: string): Promise<readonly PendingCall[]>;
  /**
   * Answers a background task that waits for a person: its subagent goes on, in this process. The calls to answer are those of
   * {@link pending} that ask for an approval. Returns the task's record as it is then; null when there is none. What a task in
   * the foreground asks is answered with `agent.call({ confirm })`, and so are approvals with rules to remember; a question of a
   * background task, which `task_output` asks, is answered with `agent.call({ answers })`.
   *
   * @throws InvalidInputError for an answer with `remember`, for one about a call that the task does not ask to approve, and
   * for one that does not say whether it does; the task goes on waiting
   */
  confirm(
    session: SessionOfTasks,
    taskId: string,
    answers: readonly Omit<Confirmation, "remember">[],
  ): Promise<TaskRecord | null>;
}

/** The parts of an agent's plugin that programs use. */
interface Installed {
  readonly agentId: string;
  readonly store: TaskStore;
  readonly control: TaskControl;
}

function install(host: PluginHost, settings: SubagentsSettings): Installed {
  const live = new LiveCalls();
  const store = new TaskStore(host.require("keyValue"));
  const here: Slot = { agentId: host.agent.agentId, userId: null, sessionId: "-" };
  const catalogue = new Catalogue({
    settings,
    filesystem: host.optional("filesystem"),
    onProblem: (problem) => host.emit(here, "-", { type: "subagent_problem", ...problem }),
  });
  const ownTools = new Set<string>();
  const { maxDepth, maxResultChars } = settings;
  const gate = host.require("gate");
  const children = new ChildSessions({ host, live, gate, maxDepth, ownTools });
  const changes = new TaskChanges({ host, store, live });
  const runner = new TaskRunner({ catalogue, children, changes, live, maxResultChars });
  const now = () => host.now();
  const control = new TaskControl({ catalogue, children, changes, runner, store, now });
  const state = host.state({
    schema: noticeStateSchema,
    initial: () => ({ told: [], asks: [] }),
    // The tasks are those of the session that gave them.
    forks: false,
  });
  const notices = new TaskNotices({ store, control, state });
  const queue = new KeyedQueue();
  const parts = { settings, catalogue, store, control, notices, queue, now };
  for (const tool of [...agentTools(parts), ...taskTools(parts)]) {
    ownTools.add(tool.name);
    host.tool(tool);
  }
  host.promptSection(async (prompt, { ctx }) => {
    if ((delegationOf(ctx)?.depth ?? 0) >= settings.maxDepth) return prompt;
    const run = taskRunOf(ctx);
    const self = run ? await catalogue.find(run.agent) : null;
    if (self && !hasTool(self, "agent_spawn")) return prompt;
    const agents = await catalogue.listed();
    if (agents.length === 0) return prompt;
    const lines = agents.map(({ name, description }) => `- ${name}: ${description}`);
    const section = `Subagents that you can give tasks to with agent_spawn:\n${lines.join("\n")}`;
    return prompt === "" ? section : `${prompt}\n\n${section}`;
  });
  host.onBuild(({ tools, mayGrow }) => (mayGrow ? [] : unknownTools(settings.agents, tools)));
  host.onHealth(async () => {
    await catalogue.all();
    const [problem] = catalogue.problems;
    if (problem) throw new ConfigurationError(`${problem.file}: ${problem.problem}`);
  });
  host.onClose(() => runner.settled());
  host.onDelete((slot) => control.delete(slot));
  host.onDeleteUser((userId) => control.deleteUser(userId));
  host.use({
    name: "subagents",
    onRun(step, next) {
      const run = taskRunOf(step.ctx);
      if (run) step.observe((event) => run.forward(event));
      return next();
    },
    onCall(step, next) {
      return live.during(step, async () => {
        const run = taskRunOf(step.ctx);
        await run?.begin();
        await notices.begin(step);
        const reply = await next();
        await run?.end(reply);
        return reply;
      });
    },
    onModelCall(step, next) {
      notices.asked(step);
      return next();
    },
    onToolResult(result, step) {
      notices.toolEnded(step, result);
      return result;
    },
    async onReasoning(step, next) {
      const { result, told } = await notices.during(step, next);
      for (const { taskId, agent, label, status } of told)
        step.emit({ type: "task_delivered", taskId, agent, label, status });
      return result;
    },
  });
  return { agentId: host.agent.agentId, store, control };
}

/** Returns what is wrong with lists of tools that name one which the agent does not have: it was misspelt, or is missing. */
function unknownTools(
  agents: readonly SubagentDefinition[],
  tools: readonly Tool[],
): readonly string[] {
  const names = tools.map(({ name }) => name);
  return agents.flatMap(({ name, tools: wanted = [] }) =>
    wanted
      .filter((one) => !one.includes("*") && !names.includes(one))
      .map((one) => {
        const near = nearestName(one, names);
        const advice = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
        return `agent ${JSON.stringify(name)}: there is no tool ${JSON.stringify(one)}${advice}`;
      }),
  );
}
