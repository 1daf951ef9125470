import {
  type AgentEvent,
  AgentState,
  type EventBody,
  type LogMark,
  type Message,
  type Middleware,
  type Plugin,
  type PluginHost,
  RuntimeContext,
  type Slot,
  type Step,
  type Tool,
  type ToolCallStep,
  type ToolGroup,
  type ToolResultBlock,
  userMessage,
} from "@holdfast/core";
import {
  askModel,
  checkEvent,
  collectHooks,
  type IncomingStep,
  type PluginQuestion,
  type PortName,
  type Ports,
  pluginState,
} from "@holdfast/core/plugin-kit";
import { uuidv7 } from "@holdfast/core/store-kit";
import { sampleSlot } from "../conformance/sample-slots.js";
import type {
  AroundHook,
  FakePluginHost,
  FakePluginHostOptions,
  HookOf,
} from "./fake-plugin-host.js";
import { FakePorts } from "./fake-ports.js";
import { incomingStep, textResult, toolCallStep } from "./pipeline-steps.js";
import { setupHost } from "./setup-host.js";

/** Host of `fakePluginHost`. */
export class RecordingHost implements FakePluginHost {
  readonly agent: PluginHost["agent"];
  readonly middleware: Middleware[] = [];
  readonly toolGroups: Omit<ToolGroup, "tools">[] = [];
  readonly promptSections: NonNullable<Middleware["onSystemPrompt"]>[] = [];
  readonly provided: { -readonly [P in PortName]?: Ports[P] } = {};
  readonly required: PortName[] = [];
  readonly events: AgentEvent[] = [];
  readonly marks: LogMark[] = [];
  readonly questions: PluginQuestion[] = [];
  readonly now: () => Date;
  readonly #ports: FakePorts;
  readonly #tools: Tool[] = [];
  readonly #sources: (() => readonly Tool[])[] = [];
  readonly #observers: ((event: AgentEvent) => void)[] = [];
  readonly #prefetches: NonNullable<Parameters<PluginHost["promptSection"]>[1]>[] = [];
  readonly #onBuild: Parameters<PluginHost["onBuild"]>[0][] = [];
  readonly #onStart: (() => Promise<void>)[] = [];
  readonly #onClose: (() => void | Promise<void>)[] = [];
  readonly #onHealth: (() => void | Promise<void>)[] = [];
  readonly #onDelete: ((slot: Slot) => Promise<void>)[] = [];
  readonly #onDeleteUser: ((userId: string) => Promise<void>)[] = [];
  #plugin = "plugin";
  #seq = 0;

  constructor({ agent, ports, now }: FakePluginHostOptions) {
    this.agent = agent ?? { name: "agent", agentId: "agent" };
    this.now = now ?? (() => new Date());
    this.#ports = new FakePorts(ports ?? {}, this.provided);
  }

  get tools(): readonly Tool[] {
    return [...this.#tools, ...this.#sources.flatMap((source) => source())];
  }

  install(plugin: Plugin): FakePluginHost {
    this.#plugin = plugin.name;
    this.#ports.close();
    let isBuilt = false;
    try {
      plugin.setup(setupHost(plugin.name, this, () => isBuilt));
    } finally {
      isBuilt = true;
      this.#ports.open();
    }
    return this;
  }

  problems(tools: readonly Tool[] = []): readonly string[] {
    const agent = { tools: [...tools, ...this.#tools], mayGrow: this.#sources.length > 0 };
    return this.#onBuild.flatMap((check) => check(agent));
  }

  use(middleware: Middleware): void {
    this.middleware.push(middleware);
  }

  tool(tool: Tool): void {
    this.#tools.push(tool);
  }

  toolSource(source: () => readonly Tool[]): void {
    this.#sources.push(source);
  }

  toolGroup(group: Omit<ToolGroup, "tools">): void {
    this.toolGroups.push(group);
  }

  promptSection(...[append, prefetch]: Parameters<PluginHost["promptSection"]>): void {
    this.promptSections.push(append);
    if (prefetch) this.#prefetches.push(prefetch);
  }

  provide<P extends PortName>(port: P, implementation: Ports[P]): void {
    this.provided[port] = implementation;
  }

  require<P extends PortName>(port: P): Ports[P] {
    this.required.push(port);
    return this.#ports.require(port);
  }

  optional<P extends PortName>(port: P): () => Ports[P] | undefined {
    return () => this.#ports.optional(port);
  }

  state: PluginHost["state"] = (options) => pluginState(this.#plugin, options);

  onBuild(check: Parameters<PluginHost["onBuild"]>[0]): void {
    this.#onBuild.push(check);
  }

  onStart(run: () => Promise<void>): void {
    this.#onStart.push(run);
  }

  onClose(run: () => void | Promise<void>): void {
    this.#onClose.push(run);
  }

  onHealth(run: () => void | Promise<void>): void {
    this.#onHealth.push(run);
  }

  onDelete(run: (slot: Slot) => Promise<void>): void {
    this.#onDelete.push(run);
  }

  onDeleteUser(run: (userId: string) => Promise<void>): void {
    this.#onDeleteUser.push(run);
  }

  /** @throws TypeError always: there is no agent to derive one from; test such a plugin with a real agent */
  deriveAgent(): never {
    throw new TypeError(
      "a fake host has no agent; build one with the plugin to test what it derives",
    );
  }

  async askModel(question: PluginQuestion): ReturnType<PluginHost["askModel"]> {
    this.#ports.check("model");
    this.questions.push(question);
    const { from, ...asked } = question;
    const emit = (event: EventBody): void =>
      "emit" in from ? from.emit(event) : this.emit(from.slot, from.callId, event);
    return askModel({ ...asked, emit });
  }

  emit(slot: Slot, callId: string, event: EventBody): void {
    this.send({ ...this.#checked(event), slot, callId, seq: 0, background: true });
  }

  observe(listener: (event: AgentEvent) => void): void {
    this.#observers.push(listener);
  }

  send(event: AgentEvent): void {
    this.events.push(event);
    for (const listener of this.#observers) listener(event);
  }

  async start(): Promise<void> {
    for (const run of this.#onStart) await run();
  }

  async close(): Promise<void> {
    for (const run of this.#onClose.toReversed()) await run();
  }

  async health(): Promise<void> {
    for (const run of this.#onHealth) await run();
  }

  async deleteSession(slot: Slot): Promise<void> {
    for (const run of this.#onDelete) await run(slot);
  }

  async deleteUser(userId: string): Promise<void> {
    for (const run of this.#onDeleteUser) await run(userId);
  }

  step(fields: Partial<Step> = {}): Step {
    const slot = fields.slot ?? { ...sampleSlot, agentId: this.agent.agentId };
    const { signal } = new AbortController();
    const callId = uuidv7();
    const runId = uuidv7();
    const state = AgentState.create(slot);
    const ctx = RuntimeContext.of({
      userId: slot.userId,
      sessionId: slot.sessionId,
      callId,
      signal,
    });
    ctx.agentState = fields.state ?? state;
    return {
      ...{ slot, runId, ctx, state, signal },
      emit: (event) =>
        this.send({ ...this.#checked(event), slot, callId, runId, seq: this.#seq++ }),
      mark: (mark) => void this.marks.push(mark),
      ...fields,
    };
  }

  run<H extends AroundHook>(
    hook: H,
    step: Parameters<HookOf<H>>[0],
    core: Parameters<HookOf<H>>[1],
  ): ReturnType<HookOf<H>> {
    type Around = (step: unknown, next: () => unknown) => unknown;
    const around = this.middleware.flatMap((one) => {
      const run = one[hook] as Around | undefined;
      return run ? [run.bind(one) as Around] : [];
    });
    const whole = around.reduceRight<() => unknown>(
      (next, run) => () => run(step, next),
      core as () => unknown,
    );
    return whole() as ReturnType<HookOf<H>>;
  }

  async systemPrompt(prompt: string, step: Step = this.step()): Promise<string> {
    const hooks = this.middleware.flatMap((one) => one.onSystemPrompt?.bind(one) ?? []);
    let text = prompt;
    await Promise.all(this.#prefetches.map((prefetch) => prefetch(step)));
    for (const append of [...this.promptSections, ...hooks]) text = await append(text, step);
    return text;
  }

  async incoming(message: Message | string, fields: Partial<IncomingStep> = {}): Promise<Message> {
    const given = typeof message === "string" ? userMessage(message) : message;
    const step = incomingStep(this, given, fields);
    let received = given;
    for (const hook of collectHooks(this.middleware).onIncoming)
      received = await hook(received, step);
    return received;
  }

  async toolResult(
    result: ToolResultBlock | string,
    fields: Partial<ToolCallStep> = {},
  ): Promise<ToolResultBlock> {
    const given = typeof result === "string" ? textResult(result, fields.call) : result;
    const step = toolCallStep(this, given, fields);
    let changed = given;
    for (const hook of collectHooks(this.middleware).onToolResult)
      changed = await hook(changed, step);
    return changed;
  }

  #checked(event: EventBody): EventBody {
    return checkEvent(event, `plugin "${this.#plugin}"`);
  }
}
