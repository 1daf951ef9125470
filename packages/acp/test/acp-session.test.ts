import { methods, RequestError, type RequestPermissionOutcome } from "@agentclientprotocol/sdk";
import {
  InMemoryAgentStateStore,
  InProcessSessionGate,
  ModelError,
  ReActAgent,
} from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agents, serveEditor } from "./served-editor.js";
import { choose } from "./test-editor.js";

const cwd = "/project";
const payCall = (cents: number) => ({ toolCalls: [{ name: "pay", input: { cents } }] });

/** Model that pays when it is told a sum, and otherwise repeats what it was told, or what its tools answered. */
function payingModel() {
  return scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    const block = last?.content[0];
    if (block?.type === "tool_result") {
      const [output] = block.output;
      return `${block.state}: ${output?.type === "text" ? output.text : ""}`;
    }
    const text = block?.type === "text" ? block.text : "";
    const sum = /^pay (\d+)$/.exec(text)?.[1];
    return sum === undefined ? `You said: ${text}` : payCall(Number(sum));
  });
}

test("a question of a tool is put to the editor, and its answer goes to the tool; one that cannot ask declines", async () => {
  const travelling = () =>
    scriptedModel(({ messages }) => {
      const [block] = messages.at(-1)?.content ?? [];
      const output = block?.type === "tool_result" ? block.output[0] : undefined;
      if (output?.type === "text") return output.text;
      return { toolCalls: [{ name: "travel", input: {} }] };
    });
  const asking = await serveEditor(
    { agentFor: agents(travelling()) },
    {
      capabilities: { elicitation: { form: {} } },
      elicit: ({ message }) => ({ action: "accept", content: { city: `Oslo (${message})` } }),
    },
  );
  expect(await asking.editor.prompt(await asking.editor.open(cwd), "Go")).toBe("end_turn");
  expect(asking.editor.text()).toBe('accept {"city":"Oslo (Where to?)"}');
  const silent = await serveEditor({ agentFor: agents(travelling()) });
  expect(await silent.editor.prompt(await silent.editor.open(cwd), "Go")).toBe("end_turn");
  expect(silent.editor.text()).toBe("decline null");
});

test("a session that is loaded twice at the same time has one agent, and the other is closed", async () => {
  const store = new InMemoryAgentStateStore();
  const make = agents(
    scriptedModel(() => "Hello."),
    store,
  );
  let open = 0;
  const { editor } = await serveEditor({
    agentFor: (session) => {
      const made = make(session);
      open++;
      return {
        ...made,
        close: async () => {
          open--;
          await made.close?.();
        },
      };
    },
  });
  const sessionId = await editor.open(cwd);
  await editor.prompt(sessionId, "Hello");
  const load = () => editor.agent.request(methods.agent.session.resume, { sessionId, cwd });
  await Promise.all([load(), load()]);
  expect(open).toBe(1);
  expect(await editor.prompt(sessionId, "Again")).toBe("end_turn");
});

describe("a prompt", () => {
  test("is answered with text, usage and a title, and the session is listed under its directory", async () => {
    const { editor } = await serveEditor({
      agentFor: agents(scriptedModel(["Hello, Ada."], { contextWindow: 1_000 })),
    });
    const sessionId = await editor.open(cwd);
    expect(await editor.prompt(sessionId, "Hello\nthere")).toBe("end_turn");
    expect(editor.text()).toBe("Hello, Ada.");
    expect(editor.updates("usage_update")).toEqual([
      { sessionUpdate: "usage_update", used: expect.any(Number), size: 1_000 },
    ]);
    expect(editor.updates("session_info_update")[0]?.title).toBe("Hello there");
    const list = (directory: string) =>
      editor.agent.request(methods.agent.session.list, { cwd: directory });
    expect((await list(cwd)).sessions).toEqual([
      { sessionId, cwd, title: "Hello there", updatedAt: expect.any(String) },
    ]);
    expect((await list("/elsewhere")).sessions).toEqual([]);
  });

  test("carries images, embedded files and links, and paths of the project as tools take them", async () => {
    const model = scriptedModel(() => "Seen.");
    const store = new InMemoryAgentStateStore();
    const { editor } = await serveEditor({ agentFor: agents(model, store) });
    const sessionId = await editor.open(cwd);
    const prompt = [
      { type: "text", text: "Look:" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "resource_link", uri: "file:///project/src/a%20b.ts#L3", name: "a b.ts" },
      { type: "resource", resource: { uri: "file:///project/c.md", text: "# C" } },
      { type: "resource_link", uri: "file:///projects/d.ts", name: "d.ts" },
    ] as const;
    await editor.agent.request(methods.agent.session.prompt, { sessionId, prompt: [...prompt] });
    expect(model.requests[0]?.messages.at(-1)?.content.slice(0, 5)).toEqual([
      { type: "text", text: "Look:" },
      { type: "data", mediaType: "image/png", source: { kind: "base64", data: "AAAA" } },
      { type: "text", text: "[@a b.ts](src/a b.ts#L3)" },
      { type: "text", text: '<context ref="c.md">\n# C\n</context>' },
      { type: "text", text: "[@d.ts](file:///projects/d.ts)" },
    ]);
    const again = await serveEditor({ agentFor: agents(model, store) });
    await again.editor.agent.request(methods.agent.session.load, {
      sessionId,
      cwd,
      mcpServers: [],
    });
    expect(again.editor.updates("user_message_chunk").map(({ content }) => content)).toEqual([
      prompt[0],
      prompt[1],
      prompt[2],
      { type: "resource_link", uri: "file:///project/c.md", name: "c.md" },
      prompt[4],
    ]);
  });

  test("fails with the words of Holdfast's error, and with none of any other", async () => {
    const model = scriptedModel(({ messages }) => {
      const [said] = messages.at(-1)?.content ?? [];
      if (said?.type === "text" && said.text === "secret") throw new Error("the key is 123");
      return { error: new ModelError("the provider refused the key", { retryable: false }) };
    });
    const { editor, errors } = await serveEditor({ agentFor: agents(model) });
    const sessionId = await editor.open(cwd);
    await expect(editor.prompt(sessionId, "Hello")).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining("the provider refused the key"),
    });
    await expect(editor.prompt(sessionId, "secret")).rejects.not.toThrow(/123/);
    expect(errors).toHaveLength(2);
  });

  test("of a session that answers another one is refused", async () => {
    const { editor } = await serveEditor(
      { agentFor: agents(payingModel()) },
      { answer: () => new Promise(() => undefined) },
    );
    const sessionId = await editor.open(cwd);
    const first = editor.prompt(sessionId, "pay 1");
    await editor.isAsked();
    await expect(editor.prompt(sessionId, "pay 2")).rejects.toMatchObject({ code: -32600 });
    await editor.cancel(sessionId);
    expect(await first).toBe("cancelled");
  });
});

describe("a tool call that asks", () => {
  test("runs once, or always, or not, as the person chooses, and the model hears why", async () => {
    const answers = ["once", "session", "reject"];
    const { editor } = await serveEditor(
      { agentFor: agents(payingModel()) },
      { answer: () => choose(answers.shift() ?? "", "too much") },
    );
    const sessionId = await editor.open(cwd);
    await editor.prompt(sessionId, "pay 1");
    await editor.prompt(sessionId, "pay 2");
    await editor.prompt(sessionId, "pay 3");
    expect(editor.asked).toHaveLength(2);
    expect(editor.asked[0]?.options.map(({ kind }) => kind)).toEqual([
      ...["allow_once", "allow_always", "allow_always", "reject_once", "reject_once"],
    ]);
    expect(editor.text()).toBe("success: paid 1success: paid 2success: paid 3");
    const other = await editor.open(cwd);
    await editor.prompt(other, "pay 4");
    expect(editor.text()).toMatch(/denied: .*too much/);
    expect(editor.updates("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  });

  test("is remembered for all sessions of the user when the person says so", async () => {
    const { editor } = await serveEditor(
      { agentFor: agents(payingModel()) },
      { answer: () => choose("user") },
    );
    await editor.prompt(await editor.open(cwd), "pay 1");
    await editor.prompt(await editor.open(cwd), "pay 2");
    expect(editor.asked).toHaveLength(1);
    expect(editor.text()).toBe("success: paid 1success: paid 2");
  });

  test("stays in the session when the editor dies, and is asked again on load", async () => {
    const store = new InMemoryAgentStateStore();
    const first = await serveEditor({ agentFor: agents(payingModel(), store) });
    const sessionId = await first.editor.open(cwd);
    const lost = first.editor.prompt(sessionId, "pay 7").catch((error: unknown) => error);
    const { toolCall } = await first.editor.isAsked();
    first.editor.connection.close();
    await first.server.close();
    expect(await lost).toBeInstanceOf(Error);

    const second = await serveEditor(
      { agentFor: agents(payingModel(), store) },
      { answer: () => choose("once") },
    );
    await second.editor.agent.request(methods.agent.session.load, {
      sessionId,
      cwd,
      mcpServers: [],
    });
    const again = await second.editor.isAsked();
    expect(again.toolCall.toolCallId).toBe(toolCall.toolCallId);
    await second.editor.says("success: paid 7");
    expect(second.errors).toEqual([]);
  });

  test("is taken back and denied when the person goes on with a prompt", async () => {
    const store = new InMemoryAgentStateStore();
    const first = await serveEditor({ agentFor: agents(payingModel(), store) });
    const sessionId = await first.editor.open(cwd);
    first.editor.prompt(sessionId, "pay 7").catch(() => undefined);
    await first.editor.isAsked();
    await first.server.close();

    let isWithdrawn = false;
    const second = await serveEditor(
      { agentFor: agents(payingModel(), store) },
      {
        answer: (_, signal) =>
          new Promise(() => {
            signal.addEventListener("abort", () => {
              isWithdrawn = true;
            });
          }),
      },
    );
    await second.editor.agent.request(methods.agent.session.resume, { sessionId, cwd });
    await second.editor.isAsked();
    expect(await second.editor.prompt(sessionId, "Never mind.")).toBe("end_turn");
    expect(second.editor.text()).toBe("You said: Never mind.");
    await eventually(() => isWithdrawn);
  });
});

describe("a tool call that another client answers first", () => {
  /** Has the editor asked, another client approve, and then the person in the editor choose. */
  async function answeredTwice(
    outcome: RequestPermissionOutcome,
    { isRunning }: { readonly isRunning: boolean },
  ) {
    let answer: (outcome: RequestPermissionOutcome) => void = () => {};
    const answered = new Promise<RequestPermissionOutcome>((resolve) => {
      answer = resolve;
    });
    let speak = () => {};
    const spoken = new Promise<string>((resolve) => {
      speak = () => resolve("Paid.");
    });
    const model = scriptedModel(({ messages, signal }) => {
      if (messages.at(-1)?.role !== "tool") return payCall(7);
      const stopped = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      return Promise.race([spoken, stopped]);
    });
    const make = agents(model);
    let other: ReActAgent | undefined;
    const { editor, errors } = await serveEditor(
      {
        agentFor: (session) => {
          const made = make(session);
          other = made.agent;
          return made;
        },
      },
      { answer: () => answered },
    );
    const sessionId = await editor.open(cwd);
    const prompted = editor.prompt(sessionId, "Pay.");
    const { toolCall } = await editor.isAsked();
    const confirm = [{ toolCallId: toolCall.toolCallId, approve: true }];
    const call = (other as ReActAgent).call({ confirm }, { userId: "ada", sessionId });
    await eventually(() => model.requests.length === 2);
    if (!isRunning) {
      speak();
      await call;
    }
    answer(outcome);
    const stopReason = await prompted;
    speak();
    return { stopReason, reply: await call, errors };
  }

  test.each(["once", "reject"])("ends the turn when the person then says %s", async (option) => {
    const { stopReason, reply, errors } = await answeredTwice(choose(option), { isRunning: false });
    expect(stopReason).toBe("end_turn");
    expect(reply.reason).toBe("stop");
    expect(errors).toEqual([]);
  });

  test("goes on when the person then closes the question", async () => {
    const outcome = { outcome: "cancelled" } as const;
    const { stopReason, reply } = await answeredTwice(outcome, { isRunning: true });
    expect(stopReason).toBe("cancelled");
    expect(reply.reason).toBe("stop");
  });
});

describe("cancelling", () => {
  test("stops a run that is gone on with, which a prompt waits for", async () => {
    const store = new InMemoryAgentStateStore();
    let asked = 0;
    const model = scriptedModel(({ signal }) => {
      asked++;
      return new Promise<string>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    });
    // A gate of its own: its process is dead for everyone else.
    const gate = new InProcessSessionGate();
    const dead = new ReActAgent({ name: "coder", model, stateStore: store, gate });
    const session = { userId: "ada", sessionId: "left" };
    await dead.updateAgentState(session, (state) => {
      state.summary = "Before.";
    });
    const lost = dead.call("Work.", session).catch(() => undefined);
    await eventually(() => asked === 1);

    const { editor } = await serveEditor({ agentFor: agents(model, store) });
    await editor.agent.request(methods.agent.session.resume, { sessionId: "left", cwd });
    await eventually(() => asked === 2);
    const prompted = editor.prompt("left", "Stop that.");
    // Until the prompt has arrived.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await editor.cancel("left");
    expect(await prompted).toBe("cancelled");
    expect(asked).toBe(2);
    await dead.close({ timeoutMs: 0 }).catch(() => undefined);
    await lost;
  });

  test("stops what an answer to an old question set off, which a prompt waits for", async () => {
    const store = new InMemoryAgentStateStore();
    const first = await serveEditor({ agentFor: agents(payingModel(), store) });
    const sessionId = await first.editor.open(cwd);
    first.editor.prompt(sessionId, "pay 7").catch(() => undefined);
    await first.editor.isAsked();
    await first.server.close();

    let asked = 0;
    const model = scriptedModel(({ signal }) => {
      asked++;
      return new Promise<string>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    });
    const { editor } = await serveEditor(
      { agentFor: agents(model, store) },
      { answer: () => choose("once") },
    );
    await editor.agent.request(methods.agent.session.resume, { sessionId, cwd });
    await eventually(() => asked === 1);
    const prompted = editor.prompt(sessionId, "Stop that.");
    // Until the prompt has arrived.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await editor.cancel(sessionId);
    expect(await prompted).toBe("cancelled");
    expect(asked).toBe(1);
  });

  test("interrupts the model; the prompt answers cancelled and keeps what was said", async () => {
    const store = new InMemoryAgentStateStore();
    const model = {
      id: "slow",
      async *stream({ signal }: { readonly signal: AbortSignal }) {
        yield { type: "text_delta", text: "I begin." } as const;
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      },
    };
    const { editor } = await serveEditor({ agentFor: agents(model, store) });
    const sessionId = await editor.open(cwd);
    const prompted = editor.prompt(sessionId, "Hello");
    await editor.says("I begin.");
    await editor.cancel(sessionId);
    expect(await prompted).toBe("cancelled");
    await editor.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    expect(editor.text()).toBe("I begin.I begin.");
  });

  test("closes what is asked, so that the next prompt is answered", async () => {
    const { editor } = await serveEditor({ agentFor: agents(payingModel()) });
    const sessionId = await editor.open(cwd);
    const prompted = editor.prompt(sessionId, "pay 1");
    await editor.isAsked();
    await editor.cancel(sessionId);
    expect(await prompted).toBe("cancelled");
    expect(editor.updates("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(await editor.prompt(sessionId, "Hello")).toBe("end_turn");
    expect(editor.text()).toBe("You said: Hello");
  });
});

describe("sessions", () => {
  test("are closed, deleted, and unknown afterwards", async () => {
    const { editor } = await serveEditor({ agentFor: agents(payingModel()) });
    const sessionId = await editor.open(cwd);
    await editor.prompt(sessionId, "Hello");
    await editor.agent.request(methods.agent.session.close, { sessionId });
    await expect(editor.prompt(sessionId, "Hello")).rejects.toMatchObject({ code: -32002 });
    await editor.agent.request(methods.agent.session.delete, { sessionId });
    const load = editor.agent.request(methods.agent.session.load, {
      sessionId,
      cwd,
      mcpServers: [],
    });
    await expect(load).rejects.toMatchObject({ code: -32002 });
    expect(await editor.agent.request(methods.agent.session.list, {})).toEqual({ sessions: [] });
  });

  test("are limited in number", async () => {
    const { editor } = await serveEditor({ agentFor: agents(payingModel()), maxSessions: 2 });
    const [first] = await Promise.all([editor.open(cwd), editor.open(cwd)]);
    await expect(editor.open(cwd)).rejects.toMatchObject({ code: -32600 });
    await editor.agent.request(methods.agent.session.close, { sessionId: first });
    await expect(editor.open(cwd)).resolves.toEqual(expect.any(String));
  });

  test("need a sign-in where one is configured", async () => {
    const { editor } = await serveEditor({
      agentFor: agents(payingModel()),
      auth: {
        methods: [{ id: "key", name: "API key" }],
        authenticate: (methodId) => {
          if (methodId !== "key") throw new Error("unreachable");
        },
      },
    });
    await expect(editor.open(cwd)).rejects.toMatchObject({ code: -32000 });
    const signIn = (methodId: string) =>
      editor.agent.request(methods.agent.authenticate, { methodId });
    await expect(signIn("other")).rejects.toBeInstanceOf(RequestError);
    await signIn("key");
    await expect(editor.open(cwd)).resolves.toEqual(expect.any(String));
  });

  test("have modes: those of permissions, and plan mode, which the agent enters and leaves too", async () => {
    const plan = (name: string, input = {}) => ({ toolCalls: [{ name, input }] });
    const model = scriptedModel([
      payCall(1),
      "Paid.",
      plan("plan_enter"),
      plan("plan_write", { content: "# Plan" }),
      plan("plan_exit"),
      "Left.",
      payCall(2),
      "Refused.",
    ]);
    const store = new InMemoryAgentStateStore();
    const { editor } = await serveEditor(
      { agentFor: agents(model, store) },
      { answer: () => choose("once") },
    );
    const { sessionId, modes } = await editor.agent.request(methods.agent.session.new, {
      cwd,
      mcpServers: [],
    });
    expect(modes?.currentModeId).toBe("default");
    expect(modes?.availableModes.map(({ id }) => id)).toEqual([
      ...["default", "accept_edits", "plan", "bypass"],
    ]);
    const setMode = (modeId: string) =>
      editor.agent.request(methods.agent.session.setMode, { sessionId, modeId });
    await expect(setMode("yolo")).rejects.toMatchObject({ code: -32602 });
    await setMode("bypass");
    await editor.prompt(sessionId, "Pay.");
    expect(editor.asked).toEqual([]);
    await editor.prompt(sessionId, "Plan.");
    expect(editor.updates("current_mode_update").map((update) => update.currentModeId)).toEqual([
      ...["plan", "bypass"],
    ]);
    // A person approves a plan in every mode.
    expect(editor.asked.map(({ toolCall }) => toolCall.kind)).toEqual(["switch_mode"]);
    await setMode("plan");
    await editor.prompt(sessionId, "Pay.");
    expect(editor.updates("tool_call_update").at(-1)?.status).toBe("failed");
    const loaded = await editor.agent.request(methods.agent.session.load, {
      ...{ sessionId, cwd, mcpServers: [] },
    });
    expect(loaded.modes?.currentModeId).toBe("plan");
  });

  test("show the todo list as a plan, also after a load", async () => {
    const todos = [
      { content: "Read", status: "completed", priority: "high" },
      { content: "Write", status: "in_progress" },
    ];
    const model = scriptedModel([
      { toolCalls: [{ name: "todo_write", input: { todos } }] },
      "Planned.",
    ]);
    const { editor } = await serveEditor({ agentFor: agents(model) });
    const sessionId = await editor.open(cwd);
    await editor.prompt(sessionId, "Plan.");
    await editor.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    const entries = [
      { content: "Read", status: "completed", priority: "high" },
      { content: "Write", status: "in_progress", priority: "medium" },
    ];
    expect(editor.updates("plan").map((plan) => plan.entries)).toEqual([entries, entries]);
  });

  test("run commands in place of prompts", async () => {
    const make = agents(payingModel());
    const { editor } = await serveEditor({
      agentFor: (session) => ({
        ...make(session),
        commands: [
          { name: "shout", description: "Shouts", run: async (words) => words.toUpperCase() },
        ],
      }),
    });
    const sessionId = await editor.open(cwd);
    await eventually(() => editor.updates("available_commands_update").length > 0);
    expect(editor.updates("available_commands_update")[0]?.availableCommands).toEqual([
      { name: "shout", description: "Shouts" },
    ]);
    expect(await editor.prompt(sessionId, "/shout it")).toBe("end_turn");
    expect(await editor.prompt(sessionId, "/other it")).toBe("end_turn");
    expect(editor.text()).toBe("ITYou said: /other it");
  });
});
