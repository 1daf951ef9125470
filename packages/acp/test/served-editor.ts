import { InMemoryAgentStateStore, type Model, ReActAgent, suspend, tool } from "@holdfast/core";
import { permissions } from "@holdfast/permissions";
import { planning } from "@holdfast/planning";
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { AcpOptions, EditorSession, SessionAgent } from "../src/acp-options.js";
import { type AcpServer, serveAcp } from "../src/serve-acp.js";
import { streamPair, TestEditor, type TestEditorOptions } from "./test-editor.js";

/** Editor and the agent that it talks to, in one process. */
export interface ServedEditor {
  readonly editor: TestEditor;
  readonly server: AcpServer;
  /** Errors that nobody waited for. */
  readonly errors: unknown[];
}

/** Tool that asks before it runs. */
const pay = tool({
  name: "pay",
  description: "Pays.",
  input: z.object({ cents: z.number() }),
  execute: ({ cents }) => `paid ${cents}`,
});

/** Tool that has a question, and repeats the answer. */
const travel = tool({
  name: "travel",
  description: "Travels.",
  readOnly: true,
  input: z.object({}),
  execute: (_, { answers: [answer] }) =>
    answer
      ? `${answer.action} ${JSON.stringify(answer.content ?? null)}`
      : suspend("where to", {
          question: {
            message: "Where to?",
            schema: { type: "object", properties: { city: { type: "string" } } },
          },
        }),
});

/** Returns a maker of agents on one store, with permissions and plan mode. */
export function agents(
  model: Model,
  stateStore: InMemoryAgentStateStore = new InMemoryAgentStateStore(),
): (session: EditorSession) => SessionAgent & { readonly agent: ReActAgent } {
  return ({ terminal, plugin }) => {
    const agent = new ReActAgent({
      ...{ name: "coder", model, stateStore, persistence: "step" },
      tools: [pay, travel, ...(terminal ? [terminal] : [])],
      plugins: [permissions(), planning(), plugin],
    });
    return {
      agent,
      modes: ["default", "accept_edits", "plan", "bypass"],
      close: async () => void (await agent.shutdown({ timeoutMs: 5_000 })),
    };
  };
}

/** Connects an editor to a server of its own, and says hello. */
export async function serveEditor(
  options: Pick<AcpOptions, "agentFor"> & Partial<AcpOptions>,
  editorOptions: TestEditorOptions = {},
): Promise<ServedEditor> {
  const [one, other] = streamPair();
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const server = serveAcp({ name: "coder", userId: "ada", onError, ...options }, one);
  const editor = new TestEditor(other, editorOptions);
  onTestFinished(() => server.close());
  await editor.initialize();
  return { editor, server, errors };
}
