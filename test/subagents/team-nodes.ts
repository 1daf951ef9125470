import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  AgentReply,
  Confirmation,
  PendingCall,
  RememberedRule,
  Slot,
  SlotPage,
} from "@holdfast/core";
import type { TaskRecord } from "@holdfast/subagents";
import { type SpawnedScript, tempDirectory } from "@holdfast/testing";
import { newPlace, type sharedStores } from "../fleet/every-store.js";
import { remoteAgent } from "../processes/remote-agent.js";
import type { Program } from "./program.js";
import { type TeamOptions, team } from "./team.mjs";

const script = new URL("team-node.mjs", import.meta.url);

/** Session that the methods of a node are about, unless they name another. */
export const session = { userId: "ann", sessionId: "s" };

/** Options of one node that can be passed to another process. */
export interface NodeOptions
  extends Pick<TeamOptions, "rules" | "agents" | "bounds" | "persistence"> {
  /** It shuts down on SIGTERM, in this time at most. */
  readonly signalTimeoutMs?: number;
  /** Answers do not get as far as the subagent; it says `answered` then. */
  readonly losesAnswers?: boolean;
}

/** A team in a process of its own. */
export interface TeamNode {
  readonly process: SpawnedScript;
  run(program: Program, ctx?: object): Promise<AgentReply>;
  confirm(confirm: readonly Confirmation[], ctx?: object): Promise<AgentReply>;
  pending(ctx?: object): Promise<readonly PendingCall[]>;
  waiting(): Promise<SlotPage>;
  tasks(ctx?: object): Promise<readonly TaskRecord[]>;
  rememberedRules(): Promise<readonly RememberedRule[]>;
  ask<T>(method: string, ...args: readonly unknown[]): Promise<T>;
  send(method: string, ...args: readonly unknown[]): void;
  kill9(): Promise<unknown>;
}

/** Nodes on one store, and the lines that their tools wrote; disposing of them ends the processes. */
export interface TeamNodes extends AsyncDisposable {
  start(options?: NodeOptions): TeamNode;
  /** Makes a team in this process. */
  here(options?: Omit<TeamOptions, "file">): ReturnType<typeof team>;
  lines(): Promise<readonly string[]>;
  /** Lets the tool `hold` with this text end. */
  release(text: string): Promise<void>;
  /** Returns the sessions of subagents. */
  slots(): Promise<readonly Slot[]>;
  logOf(slot: Slot): Promise<readonly unknown[]>;
}

/** Makes an empty place on a store for nodes. */
export async function teamNodes(
  kind: (typeof sharedStores)[number],
  leaseMs = 30_000,
): Promise<TeamNodes> {
  const place = await newPlace(kind, leaseMs);
  const directory = await tempDirectory();
  const file = join(directory.path, "lines.txt");
  const closing: (() => Promise<unknown>)[] = [];
  return {
    start(options = {}) {
      const node = startNode([JSON.stringify(place.choice), JSON.stringify({ ...options, file })]);
      closing.push(() => node.kill9());
      return node;
    },
    here(options = {}) {
      const made = team(place.open(), { ...options, file });
      closing.push(() => made.agent.shutdown({ timeoutMs: 0 }));
      return made;
    },
    async lines() {
      const text = await readFile(file, "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "");
    },
    async slots() {
      const { stateStore } = place.open();
      const pages = ["worker", "other"].map((name) => stateStore.list({ agentId: `lead/${name}` }));
      return (await Promise.all(pages)).flatMap(({ slots }) => slots.map(({ slot }) => slot));
    },
    logOf: (slot) => place.open().log.read(slot),
    release: (text) => writeFile(`${file}.${text}`, ""),
    async [Symbol.asyncDispose]() {
      await Promise.all(closing.map((close) => close()));
      await place[Symbol.asyncDispose]();
      await directory.cleanup();
    },
  };
}

function startNode(args: readonly string[]): TeamNode {
  const { ask, send, process } = remoteAgent(script, args);
  return {
    process,
    run: (program, ctx) => ask("call", JSON.stringify(program), { ...session, ...ctx }),
    confirm: (confirm, ctx) => ask("call", { confirm }, { ...session, ...ctx }),
    pending: (ctx) => ask("pending", { ...session, ...ctx }),
    waiting: () => ask("sessions", { waiting: true }),
    tasks: (ctx) => ask("tasks", { ...session, ...ctx }),
    rememberedRules: () => ask("rememberedRules", session),
    ask,
    send,
    kill9: () => process.kill9(),
  };
}
