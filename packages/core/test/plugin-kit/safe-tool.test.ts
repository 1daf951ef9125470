import { InvalidInputError, RuntimeContext, type Tool } from "@holdfast/core";
import { failedResult, isExplicitToolResult, reasonOf, safeTool } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";
import { z } from "zod";

const input = z.object({ path: z.string() });

function toolThat(run: (signal: AbortSignal) => unknown): Tool {
  return safeTool({
    name: "note",
    description: "Reads a note.",
    input,
    readOnly: true,
    run: (_input, _ctx, signal) => run(signal),
  });
}

function use(tool: Tool, signal?: AbortSignal): Promise<unknown> {
  const slot = { agentId: "a", userId: "ada", sessionId: "one" };
  const about = { slot, agentId: "a", toolCallId: "c", progress: () => undefined, answers: [] };
  const ctx = Object.assign(RuntimeContext.of({ userId: "ada", sessionId: "one", signal }), about);
  return Promise.resolve(tool.execute?.({ path: "a.md" } as never, ctx));
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

async function failureText(tool: Tool): Promise<unknown> {
  const result = await use(tool);
  if (!isExplicitToolResult(result)) return undefined;
  expect(result.state).toBe("error");
  return result.output;
}

test("gives back what the work returned, and keeps the other options of a tool", async () => {
  const tool = toolThat(async () => "text");
  expect(await use(tool)).toBe("text");
  expect(tool).toMatchObject({ name: "note", description: "Reads a note.", readOnly: true });
});

test("an error of ours is told in its own words", async () => {
  const tool = toolThat(throwing(new InvalidInputError("there is no such note")));
  expect(await failureText(tool)).toBe("note: there is no such note.");
});

test.each([
  [Object.assign(new Error("secret"), { code: "ENOSPC" }), "ENOSPC"],
  [Object.assign(new Error("secret"), { code: "secret code" }), "Error"],
  [new RangeError("secret"), "RangeError"],
  ["secret", "an unknown error"],
  [undefined, "an unknown error"],
])("of another error only the code or the name is told", async (error, reason) => {
  expect(reasonOf(error)).toBe(reason);
  expect(await failureText(toolThat(throwing(error)))).toBe(
    `note failed (${reason}). Try again later.`,
  );
  expect(await failureText(toolThat(() => Promise.reject(error)))).toContain(reason);
});

test("a call that is being stopped throws, so that the engine can close it", async () => {
  const controller = new AbortController();
  const tool = toolThat((signal) => {
    controller.abort(new Error("stopped"));
    signal.throwIfAborted();
  });
  await expect(use(tool, controller.signal)).rejects.toThrow("stopped");
});

test("a call that was stopped before does not run", async () => {
  let runs = 0;
  const tool = toolThat(() => runs++);
  await expect(use(tool, AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  expect(runs).toBe(0);
});

test("there is a signal also where the context has none", async () => {
  expect(await use(toolThat((signal) => signal.aborted))).toBe(false);
});

test("a failed result is one with the state error", () => {
  expect(failedResult("No.")).toMatchObject({ output: "No.", state: "error" });
});
