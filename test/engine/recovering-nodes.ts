import {
  type AgentEvent,
  InMemoryAgentStateStore,
  InMemoryKeyValueStore,
  InProcessSessionGate,
  type KeyValueStore,
  type Model,
  ReActAgent,
  type ReActAgentOptions,
  StoreUnavailableError,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { outline } from "./conversation.js";

/** Session of the runs that die. */
export const ctx = { userId: "u", sessionId: "s" };
/** Longer than a silent node is waited for, and its runs are looked at. */
export const RECOVERY_MS = 20_000;

let stateStore: InMemoryAgentStateStore;
/** Key-value store that all nodes share. */
export let values: KeyValueStore;
/** Gate of the nodes that live; one that is to die has its own, so that its leases end with it. */
let gate: InProcessSessionGate;
let nodes: Node[];

/** Gives each test of a file a fleet of its own, on a clock that the test moves. */
export function useFleet(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    stateStore = new InMemoryAgentStateStore({ fused: false });
    values = new InMemoryKeyValueStore();
    gate = new InProcessSessionGate();
    nodes = [];
  });

  afterEach(async () => {
    for (const { agent } of nodes) {
      const closed = agent.close({ timeoutMs: 0 }).catch(() => undefined);
      await vi.advanceTimersByTimeAsync(10_000);
      await closed;
    }
    // A closed agent leaves nothing behind that goes on. (Other files of the same worker may have timers of their own.)
    const commands = nodes.map((node) => node.commands);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(nodes.map((node) => node.commands)).toEqual(commands);
    vi.useRealTimers();
  });
}

/** Lets time pass. */
export const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** An agent as one process of a fleet has it, which can be cut off from its store for good. */
export class Node {
  readonly events: AgentEvent[] = [];
  readonly agent: ReActAgent;
  /** Commands to the key-value store. */
  commands = 0;
  isDead = false;
  /** While it is there, commands are not answered. */
  held: Promise<void> | undefined;
  /** Time that a command takes. */
  latencyMs = 0;

  constructor(model: Model, options: Partial<ReActAgentOptions> = {}) {
    const alive = async <T>(command: () => Promise<T>): Promise<T> => {
      this.commands++;
      await this.held;
      if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
      if (this.isDead) throw new StoreUnavailableError("dead");
      return command();
    };
    this.agent = new ReActAgent({
      ...{ name: "a", model, stateStore, gate, recover: true },
      keyValue: {
        contract: 1,
        kind: values.kind,
        reach: values.reach,
        get: (...args) => alive(() => values.get(...args)),
        getMany: (...args) => alive(() => values.getMany(...args)),
        put: (...args) => alive(() => values.put(...args)),
        delete: (...args) => alive(() => values.delete(...args)),
        list: (...args) => alive(() => values.list(...args)),
      },
      onEvent: (event) => this.events.push(event),
      ...options,
    });
    nodes.push(this);
  }

  of<T extends AgentEvent["type"]>(type: T): Extract<AgentEvent, { type: T }>[] {
    return this.events.filter((event) => event.type === type) as Extract<AgentEvent, { type: T }>[];
  }
}

/** A node that dies when its model is asked; its leases die with it. */
export function mortal(options: Partial<ReActAgentOptions> = {}): Node {
  const node: Node = new Node(
    scriptedModel(async () => {
      node.isDead = true;
      return new Promise<never>(() => undefined);
    }),
    { gate: new InProcessSessionGate(), ...options },
  );
  return node;
}

/** Lets a node die in the middle of a call. */
export async function dies(node: Node, words = "dying words", sessionId = "s"): Promise<void> {
  node.agent.call(words, { ...ctx, sessionId }).catch(() => undefined);
  await passes(0);
  await vi.waitFor(() => expect(node.isDead).toBe(true));
}

/** Outline of the session. */
export const stored = async (node: Node) => outline(await node.agent.getAgentState(ctx));
/** Nodes that have a record, and the marks of their runs. */
export const marks = async () => {
  const nodes = (await values.list(["holdfast.recovery", "a"])).keys;
  const keys = nodes.map(async (id) => (await values.list(["holdfast.recovery", "a", id])).keys);
  return { nodes, runs: (await Promise.all(keys)).flat() };
};
