import { setTimeout as sleep } from "node:timers/promises";
import type { ClientRecord, NamedCall } from "./client-record.js";
import type { NewOperation, Told } from "./operation.js";
import { nextPlan, type Plan } from "./plan.js";
import { questionText } from "./question.mjs";
import { at, type SeededRandom } from "./seeded-random.js";

/** Sessions of a history; some allow what would keep the others from being checked strictly. */
export interface Sessions {
  readonly all: readonly string[];
  /** Sessions that are compacted. */
  readonly compacted: readonly string[];
  /** Sessions that are deleted. */
  readonly deleted: readonly string[];
}

/** Repeated calls come from the session's latest ones: a store need not remember the others. */
const rememberedCalls = 6;

/** Codes after which the outcome of a call is open to its caller, who may repeat it. */
const worthRepeating = new Set([
  "UNKNOWN_OUTCOME",
  "UNAVAILABLE",
  "LEASE_LOST",
  "SHUTTING_DOWN",
  "MODEL",
  "CONFLICT",
]);

/** One client of a history: makes one operation after another, by a schedule of its own. */
export class Client {
  readonly #random: SeededRandom;
  readonly #sessions: Sessions;
  readonly #record: ClientRecord;

  constructor(random: SeededRandom, sessions: Sessions, record: ClientRecord) {
    this.#random = random;
    this.#sessions = sessions;
    this.#record = record;
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const plan = nextPlan(this.#random);
      await this.#carryOut(plan);
      await sleep(plan.pauseMs);
    }
  }

  async #carryOut(plan: Plan): Promise<void> {
    const session = at(this.#sessions.all, plan.session);
    const make = (operation: NewOperation) => this.#record.make(plan.node, operation);
    const earlier = this.#earlierCall(session, plan);
    switch (plan.kind) {
      case "call":
        return this.#call(plan, session, this.#newCall(plan, session));
      case "repeat":
        return this.#call(plan, session, earlier ?? this.#newCall(plan, session));
      case "hedge":
        return this.#hedge(plan, session);
      case "reuse":
        return this.#reuse(plan, session, earlier);
      case "interrupt": {
        const message = plan.withMessage ? `note ${this.#record.fresh("m")}` : undefined;
        const callId = plan.named ? earlier?.callId : undefined;
        await make({ kind: "interrupt", session, message, callId });
        return;
      }
      case "settle":
        return this.#settle(plan, session, plan.node);
      case "resume":
        await make({ kind: "resume", session, callId: plan.named ? earlier?.callId : undefined });
        return;
      case "update":
        await make({ kind: "update", session, note: this.#record.fresh("note") });
        return;
      case "compact":
        await make({ kind: "compact", session: at(this.#sessions.compacted, plan.session) });
        return;
      case "delete":
        await make({ kind: "delete", session: at(this.#sessions.deleted, plan.session) });
        return;
      case "unfinished":
        await make({ kind: "unfinished", session });
    }
  }

  async #call(plan: Plan, session: string, call: NamedCall | UnnamedCall): Promise<void> {
    const { onBusy, abortAfterMs, fail, streamed } = plan;
    const settings = { ...call, kind: "call", session, onBusy, streamed } as const;
    const told = await this.#record.make(plan.node, { ...settings, abortAfterMs, fail });
    await this.#answerPending(plan, session, told);
    if (call.callId === undefined || !plan.persistent) return;
    if (told.lost === true || worthRepeating.has(told.error?.code ?? "")) {
      const again = await this.#record.make(plan.otherNode, settings);
      await this.#answerPending(plan, session, again);
    }
  }

  /** The same call to two nodes at once, as a client does that does not want to wait for the slower one. */
  async #hedge(plan: Plan, session: string): Promise<void> {
    const call = this.#newCall({ ...plan, named: true }, session);
    const operation = { ...call, kind: "call", session } as const;
    const told = await Promise.all([
      this.#record.make(plan.node, operation),
      this.#record.make(plan.otherNode, operation),
    ]);
    for (const one of told) await this.#answerPending(plan, session, one);
  }

  /** The id of an earlier call with another question. */
  async #reuse(plan: Plan, session: string, earlier: NamedCall | undefined): Promise<void> {
    if (earlier === undefined) return;
    const question = this.#record.fresh("q");
    const input = questionText(question, { rounds: [], delayMs: 0, words: 0 });
    const { callId } = earlier;
    await this.#record.make(plan.node, { kind: "call", session, callId, question, input });
  }

  async #answerPending(plan: Plan, session: string, told: Told): Promise<void> {
    if (told.reply?.pending !== undefined && plan.persistent)
      await this.#settle(plan, session, plan.otherNode);
  }

  /** Some answers are given twice, on two nodes. */
  async #settle(plan: Plan, session: string, node: number): Promise<void> {
    const callId = plan.named ? this.#record.fresh("c") : undefined;
    const result = `from outside: ${this.#record.fresh("r")}`;
    const operation = { kind: "settle", session, callId, approve: plan.approve, result } as const;
    const told = await this.#record.make(node, operation);
    if (told.lost === true || told.error?.code === "UNKNOWN_OUTCOME")
      await this.#record.make(plan.otherNode, operation);
  }

  #newCall(plan: Plan, session: string): NamedCall | UnnamedCall {
    const question = this.#record.fresh("q");
    const input = questionText(question, plan.script);
    if (!plan.named) return { callId: undefined, question, input };
    const call = { callId: this.#record.fresh("c"), question, input };
    this.#record.remember(session, call);
    return call;
  }

  #earlierCall(session: string, plan: Plan): NamedCall | undefined {
    const calls = (this.#record.named.get(session) ?? []).slice(-rememberedCalls);
    return calls.length === 0 ? undefined : at(calls, plan.earlier);
  }
}

interface UnnamedCall extends Omit<NamedCall, "callId"> {
  readonly callId: undefined;
}
