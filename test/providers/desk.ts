import type { AgentEvent } from "@holdfast/core";
import type { HarnessAgent } from "@holdfast/harness";
import type { WireReply, WireScript, WireServer, WireServerOptions } from "@holdfast/provider-rigs";
import { tempDirectory } from "@holdfast/testing";
import { onTestFinished } from "vitest";
import { clerkIn } from "./clerk.js";
import type { ProviderKit } from "./provider-kits.js";

/** The session of these tests. */
export const ctx = { userId: "ada", sessionId: "orders" };

/** What a test works with; all of it is gone after the test. */
export interface Desk {
  /** Of all agents so far. */
  readonly events: AgentEvent[];
  start(kit: ProviderKit, script: WireScript, options?: WireServerOptions): Promise<WireServer>;
  hire(kit: ProviderKit, server: WireServer): HarnessAgent;
}

/** A fresh one, with a directory of its own. */
export async function desk(): Promise<Desk> {
  const directory = await tempDirectory();
  const open: { close(): Promise<void> }[] = [];
  onTestFinished(async () => {
    for (const one of open.reverse()) await one.close();
    await directory.cleanup();
  });
  const events: AgentEvent[] = [];
  const clerk = clerkIn(directory.path, (event) => events.push(event));
  return {
    events,
    async start(kit, script, options) {
      const server = await kit.start(script, options);
      open.push(server);
      return server;
    },
    hire(kit, server) {
      const agent = clerk(kit.model(server));
      open.push(agent);
      return agent;
    },
  };
}

/** A reply with thinking that is signed, wherever the provider has a place for it. */
export function signed(token: string, reply: WireReply): WireReply {
  return { ...reply, thinking: { text: "I think.", signature: token, encrypted: token } };
}

/** A request as it was sent. */
export function sent(server: WireServer, index: number): string {
  return JSON.stringify(server.requests.at(index)?.body);
}

/** A call of the agent's tool. */
export const lookUp = { name: "look_up", input: { number: 7 } };
