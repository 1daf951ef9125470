import { isRecord, type JsonObject } from "../json/json.js";
import type { AgentState } from "../state/agent-state.js";
import type { ToolInputSchema } from "../tool/input-schema.js";
import { checkFields } from "./check-fields.js";
import type {
  AgentStateSource,
  OnBusy,
  RuntimeContext,
  RuntimeContextBuilder,
  RuntimeContextFields,
  TypeKey,
} from "./runtime-context.js";

interface Attributes {
  readonly extra: Record<string, unknown>;
  readonly singletons: Map<TypeKey<unknown>, unknown>;
}

const brand = Symbol.for("holdfast.runtime_context");

/** A {@link RuntimeContext} of this copy of the package. */
export class CallRuntimeContext implements RuntimeContext {
  readonly userId: string | null;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly callId: string | undefined;
  readonly onBusy: OnBusy | undefined;
  readonly onPending: "refuse" | "deny" | undefined;
  readonly queueTimeoutMs: number | undefined;
  readonly output: ToolInputSchema | undefined;
  /** The state this call works on; the engine sets it. Hooks and tools read state from here. */
  agentState: AgentState | undefined;
  readonly #attributes: Attributes;

  static {
    Object.defineProperty(CallRuntimeContext.prototype, brand, { value: true });
  }

  protected constructor(
    fields: RuntimeContextFields,
    attributes: Attributes,
    state?: AgentState | undefined,
  ) {
    this.userId = fields.userId ?? null;
    this.sessionId = fields.sessionId;
    this.signal = fields.signal;
    this.callId = fields.callId;
    this.onBusy = fields.onBusy;
    this.onPending = fields.onPending;
    this.queueTimeoutMs = fields.queueTimeoutMs;
    this.output = fields.output;
    this.agentState = state;
    this.#attributes = attributes;
  }

  static builder(source?: RuntimeContext): RuntimeContextBuilder {
    return new CallContextBuilder(source);
  }

  static of(fields: RuntimeContextFields): RuntimeContext {
    // Not `instanceof`: a context of another copy of this package keeps its typed singletons.
    if (isRuntimeContext(fields)) return fields;
    checkFields(fields);
    return new CallRuntimeContext(fields, {
      extra: Object.assign(Object.create(null), fields.extra),
      singletons: new Map(),
    });
  }

  static empty(): RuntimeContext {
    return CallRuntimeContext.of({});
  }

  /** The state of `ctx` while a call runs, else the agent's stored one for the slot `ctx` names. */
  static async resolveAgentState(
    ctx: RuntimeContext | undefined,
    agent: AgentStateSource,
  ): Promise<AgentState | null> {
    if (ctx?.agentState) return ctx.agentState;
    return agent.getAgentState(
      ctx?.sessionId === undefined
        ? { userId: ctx?.userId ?? null }
        : { userId: ctx.userId, sessionId: ctx.sessionId },
    );
  }

  /** The string-keyed attributes themselves. */
  get extra(): Record<string, unknown> {
    return this.#attributes.extra;
  }

  get<T>(key: TypeKey<T>): T | undefined;
  get(key: string): unknown;
  get(key: string | TypeKey<unknown>): unknown {
    return typeof key === "string"
      ? this.#attributes.extra[key]
      : this.#attributes.singletons.get(key);
  }

  /** Sets an attribute or a typed singleton; `undefined` removes it. */
  put<T>(key: TypeKey<T>, value: T | undefined): this;
  put(key: string, value: unknown): this;
  put(key: string | TypeKey<unknown>, value: unknown): this {
    if (typeof key === "string") {
      if (value === undefined) delete this.#attributes.extra[key];
      else this.#attributes.extra[key] = value;
    } else if (value === undefined) this.#attributes.singletons.delete(key);
    else this.#attributes.singletons.set(key, value);
    return this;
  }

  /** A context with the same attributes, copied, and other fields where given; an undefined one is not given. */
  child(fields: RuntimeContextFields = {}): RuntimeContext {
    checkFields(fields);
    const present: Record<string, unknown> = { ...this.#fields() };
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) present[name] = value;
    return new CallRuntimeContext(
      present,
      {
        extra: Object.assign(Object.create(null), this.#attributes.extra, fields.extra),
        singletons: new Map(this.#attributes.singletons),
      },
      this.agentState,
    );
  }

  /** A context that shares its attributes with this one and has another signal: what a tool gets. */
  withSignal(signal: AbortSignal): RuntimeContext {
    return new CallRuntimeContext({ ...this.#fields(), signal }, this.#attributes, this.agentState);
  }

  /** Plain summary for logs: ids only, no attributes. */
  toJSON(): JsonObject {
    return {
      userId: this.userId,
      sessionId: this.sessionId ?? null,
      callId: this.callId ?? null,
    };
  }

  #fields(): RuntimeContextFields {
    const { userId, sessionId, signal, callId, onBusy, onPending, queueTimeoutMs, output } = this;
    return { userId, sessionId, signal, callId, onBusy, onPending, queueTimeoutMs, output };
  }
}

function isRuntimeContext(value: unknown): value is RuntimeContext {
  return isRecord(value) && brand in value;
}

class CallContextBuilder implements RuntimeContextBuilder {
  #fields: { -readonly [K in keyof RuntimeContextFields]: RuntimeContextFields[K] } = {};
  readonly #source: RuntimeContext | undefined;
  readonly #puts: ((ctx: RuntimeContext) => void)[] = [];

  constructor(source?: RuntimeContext) {
    this.#source = source;
  }

  userId(userId: string | null): this {
    this.#fields.userId = userId;
    return this;
  }

  sessionId(sessionId: string): this {
    this.#fields.sessionId = sessionId;
    return this;
  }

  signal(signal: AbortSignal): this {
    this.#fields.signal = signal;
    return this;
  }

  callId(callId: string): this {
    this.#fields.callId = callId;
    return this;
  }

  onBusy(onBusy: OnBusy): this {
    this.#fields.onBusy = onBusy;
    return this;
  }

  onPending(onPending: "refuse" | "deny"): this {
    this.#fields.onPending = onPending;
    return this;
  }

  queueTimeoutMs(queueTimeoutMs: number): this {
    this.#fields.queueTimeoutMs = queueTimeoutMs;
    return this;
  }

  output(output: ToolInputSchema): this {
    this.#fields.output = output;
    return this;
  }

  put<T>(key: TypeKey<T>, value: T): this;
  put(key: string, value: unknown): this;
  put(key: string | TypeKey<unknown>, value: unknown): this {
    this.#puts.push((ctx) => (typeof key === "string" ? ctx.put(key, value) : ctx.put(key, value)));
    return this;
  }

  build(): RuntimeContext {
    const ctx = this.#source
      ? this.#source.child(this.#fields)
      : CallRuntimeContext.of({ ...this.#fields });
    for (const put of this.#puts) put(ctx);
    return ctx;
  }
}
