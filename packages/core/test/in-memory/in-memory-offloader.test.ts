import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import {
  AgentState,
  type DataBlock,
  InMemoryOffloader,
  RuntimeContext,
  type Slot,
  type TextBlock,
  type ToolCallContext,
  type ToolResultBlock,
  userMessage,
} from "../../src/index.js";
import { isExplicitToolResult, validateInput } from "../../src/plugin-kit/index.js";

const slot: Slot = { agentId: "agent", userId: "alice", sessionId: "s1" };
let offloader: InMemoryOffloader;

beforeEach(() => {
  offloader = new InMemoryOffloader();
});

function toolContext(fields: Partial<Slot>): ToolCallContext {
  const { agentId } = slot;
  const about = { slot, agentId, toolCallId: "c", progress: () => undefined, answers: [] };
  return Object.assign(RuntimeContext.of(fields), about);
}

/** Runs the read-back tool as the engine would, for a call of that slot. */
async function readBack(input: object, of: Omit<Slot, "agentId"> = slot): Promise<unknown> {
  const ctx = toolContext({ userId: of.userId, sessionId: of.sessionId });
  ctx.agentState = AgentState.create(of);
  const { readBackTool } = offloader;
  const checked = await validateInput(readBackTool.input, input);
  if (checked.problem !== undefined) throw new Error(checked.problem);
  return readBackTool.execute?.(checked.value as never, ctx);
}

function result(...output: ToolResultBlock["output"]): ToolResultBlock {
  return { type: "tool_result", toolCallId: "c", name: "n", output, state: "success" };
}

/** The content, page by page, as a model would read it. */
async function readWhole(reference: string, limit?: number): Promise<string> {
  let whole = "";
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const blocks = (await readBack({ reference, offset, limit })) as TextBlock[];
    whole += blocks[0]?.text;
    const next = /Go on with offset (\d+)/.exec(blocks[1]?.text ?? "")?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  return whole;
}

test("what was offloaded is read back whole, over pages of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.integer({ min: 2, max: 30 }),
      async (content, limit) => {
        const { reference } = await offloader.offloadToolResult(
          slot,
          result({ type: "text", text: content }),
        );
        expect(await readWhole(reference, limit)).toBe(content);
      },
    ),
  );
});

test("a long text comes in pages by default, and the way to go on is said", async () => {
  const content = "0123456789".repeat(5_000);
  const { reference, readBack: how } = await offloader.offloadToolResult(
    slot,
    result({ type: "text", text: content }),
  );
  expect(how).toContain("read_offloaded");
  expect(how).toContain(reference);
  expect(await readBack({ reference })).toHaveLength(2);
  expect(await readWhole(reference)).toBe(content);
});

test("messages come back one per line", async () => {
  const messages = [userMessage("one"), userMessage("two\nlines")];
  const { reference } = await offloader.offloadContext(slot, messages);
  const lines = (await readWhole(reference)).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(messages);
});

test("data comes back as the block it was, alone or within a result", async () => {
  const block: DataBlock = {
    type: "data",
    mediaType: "image/png",
    source: { kind: "base64", data: "QUJD" },
  };
  const { reference } = await offloader.offloadData(slot, block);
  expect(await readBack({ reference })).toEqual([block]);
  const mixed = result({ type: "text", text: "see" }, block);
  const whole = await readWhole((await offloader.offloadToolResult(slot, mixed)).reference);
  expect(JSON.parse(whole)).toEqual(mixed.output);
});

test("the same content of a session has one reference, other content another", async () => {
  const refer = async (text: string, of = slot) =>
    (await offloader.offloadToolResult(of, result({ type: "text", text }))).reference;
  const reference = await refer("same");
  expect(await refer("same")).toBe(reference);
  expect(await refer("other")).not.toBe(reference);
  expect(await refer("same", { ...slot, agentId: "other" })).not.toBe(reference);
  expect(await readWhole(reference)).toBe("same");
});

describe("a reference", () => {
  test.each([
    { userId: "alice", sessionId: "s2" },
    { userId: "bob", sessionId: "s1" },
    { userId: null, sessionId: "s1" },
  ])("cannot be used by %j", async (other) => {
    const { reference } = await offloader.offloadContext(slot, [userMessage("secret")]);
    const answer = await readBack({ reference }, other);
    expect(isExplicitToolResult(answer) && answer.state).toBe("error");
    expect(JSON.stringify(answer)).not.toContain("secret");
  });

  test("of another offloader, or made up, is answered with an error the model can read", async () => {
    const { reference } = await new InMemoryOffloader().offloadContext(slot, [userMessage("x")]);
    for (const wrong of [reference, "__proto__", ""]) {
      const answer = await readBack({ reference: wrong });
      expect(isExplicitToolResult(answer) && answer.state).toBe("error");
    }
  });

  test("cannot be used outside a session", async () => {
    const { reference } = await offloader.offloadContext(slot, [userMessage("x")]);
    const answer = await offloader.readBackTool.execute?.({ reference } as never, toolContext({}));
    expect(isExplicitToolResult(answer) && answer.state).toBe("error");
  });
});

test("a page that would be larger than a result may be is refused", async () => {
  await expect(readBack({ reference: "r", limit: 64_001 })).rejects.toThrow(/limit/);
  await expect(readBack({ reference: "r", offset: -1 })).rejects.toThrow(/offset/);
});
