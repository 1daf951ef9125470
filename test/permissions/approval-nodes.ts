import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  AgentReply,
  Confirmation,
  PendingCall,
  PermissionRule,
  RememberedRule,
  SlotPage,
} from "@holdfast/core";
import { type ScriptedToolCall, tempDirectory } from "@holdfast/testing";
import { newPlace, type sharedStores } from "../fleet/every-store.js";
import { remoteAgent } from "../processes/remote-agent.js";

const script = new URL("approval-node.mjs", import.meta.url);

/** Session that the methods of a node are about, unless they name another. */
export const session = { userId: "ann", sessionId: "s" };

/** An agent in a process of its own; its methods are those of the agent. */
export interface ApprovalNode {
  /** Lets the model make these calls at once. */
  use(calls: readonly ScriptedToolCall[], ctx?: object): Promise<AgentReply>;
  confirm(confirm: readonly Confirmation[], ctx?: object): Promise<AgentReply>;
  pending(name?: typeof session): Promise<readonly PendingCall[]>;
  waiting(): Promise<SlotPage>;
  resume(name?: typeof session): Promise<AgentReply | null>;
  rememberedRules(): Promise<readonly RememberedRule[]>;
  forgetRules(options: {
    readonly scope: RememberedRule["scope"];
    readonly rules?: readonly PermissionRule[];
  }): Promise<number>;
  /** Calls a method that need not return before the process dies. */
  send(method: string, ...args: readonly unknown[]): void;
  kill9(): Promise<unknown>;
}

/** Options of one node. */
export interface NodeOptions {
  /** @default "call" */
  readonly persistence?: "call" | "step";
  /** Its tool `hang` does not end. @default false */
  readonly hangs?: boolean;
}

/** Nodes on one store, and the lines that their tools wrote; disposing of them ends the processes. */
export interface ApprovalNodes extends AsyncDisposable {
  start(options?: NodeOptions): ApprovalNode;
  lines(): Promise<readonly string[]>;
}

/** Makes an empty place on a store for nodes. */
export async function approvalNodes(
  kind: (typeof sharedStores)[number],
  leaseMs = 30_000,
): Promise<ApprovalNodes> {
  const place = await newPlace(kind, leaseMs);
  const directory = await tempDirectory();
  const started: ApprovalNode[] = [];
  const file = join(directory.path, "lines.txt");
  return {
    start(options = {}) {
      const args = [JSON.stringify(place.choice), file, JSON.stringify(options)];
      const node = startNode(args);
      started.push(node);
      return node;
    },
    async lines() {
      const text = await readFile(file, "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "");
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((node) => node.kill9()));
      await place[Symbol.asyncDispose]();
      await directory.cleanup();
    },
  };
}

function startNode(args: readonly string[]): ApprovalNode {
  const { ask, send, process } = remoteAgent(script, args);
  return {
    use: (calls, ctx) => ask("call", JSON.stringify(calls), { ...session, ...ctx }),
    confirm: (confirm, ctx) => ask("call", { confirm }, { ...session, ...ctx }),
    pending: (name = session) => ask("pending", name),
    waiting: () => ask("sessions", { waiting: true }),
    resume: (name = session) => ask("resume", name),
    rememberedRules: () => ask("rememberedRules", session),
    forgetRules: (options) => ask("forgetRules", session, options),
    send,
    kill9: () => process.kill9(),
  };
}
