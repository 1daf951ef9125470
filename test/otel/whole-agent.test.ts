import { join } from "node:path";
import { compaction } from "@holdfast/compaction";
import { InMemoryAgentStateStore, tool } from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { type OtelOptions, otel } from "@holdfast/otel";
import { scriptedModel, tempDirectory } from "@holdfast/testing";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Observatory } from "./span-tree.js";

/** What is said where; none of it may leave by telemetry. */
interface Story {
  readonly question: string;
  readonly input: string;
  readonly finding: string;
  readonly answer: string;
  readonly summary: string;
  readonly fact: string;
}

const plain: Story = {
  question: "What is down there?",
  input: "under the oak",
  finding: "bones ",
  answer: "Bones.",
  summary: "They dig for bones.",
  fact: "The user digs.",
};

/** A harness with everything on whose model digs three times, its context compacted on the way. */
async function digger(observatory: Observatory, story: Story, options: OtelOptions = {}) {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const { tracerProvider, meterProvider, tracer } = observatory;
  const dig = tool({
    name: "dig",
    description: "Digs.",
    input: z.object({ place: z.string() }),
    execute: () => {
      tracer.startSpan("GET /ground").end();
      return story.finding.repeat(2_000);
    },
  });
  const digs = 3;
  const main = scriptedModel(
    (_, index) =>
      index < digs
        ? { toolCalls: [{ name: "dig", input: { place: story.input }, id: `c${index}` }] }
        : story.answer,
    { id: "anthropic.messages/main" },
  );
  const summariser = scriptedModel(() => story.summary, { id: "openai.chat/summariser" });
  const rememberer = scriptedModel(() => `- ${story.fact}`, { id: "groq/rememberer" });
  const agent = HarnessAgent.builder()
    .name("digger")
    .model(main)
    .workspace(join(directory.path, "workspace"))
    .stateStore(new InMemoryAgentStateStore())
    .tools(dig)
    .use(compaction({ triggerMessages: 5, keepMessages: 2, model: summariser }))
    .use(toolResultEviction({ maxResultChars: 1_000 }))
    .use(memoryFlush({ model: rememberer, flushTrigger: "always", finishOnClose: true }))
    // The last one given is the outermost all the same.
    .use(otel({ tracerProvider, meterProvider, ...options }))
    .build();
  return agent;
}

test("one call is one tree across tools and compaction; memory is traces of its own that link to it", async () => {
  const observatory = new Observatory();
  const agent = await digger(observatory, plain);
  await observatory.tracer.startActiveSpan("POST /chat", async (span) => {
    await agent.call(plain.question, { sessionId: "s", userId: "u" });
    span.end();
  });
  await agent.close();
  const [request] = observatory.named("POST /chat");
  expect(request && observatory.tree(request)).toBe(
    `POST /chat
  invoke_agent digger
    holdfast.state.load
    chat main
    execute_tool dig
      GET /ground
    chat main
    execute_tool dig
      GET /ground
    holdfast.compaction
      chat summariser
    chat main
    execute_tool dig
      GET /ground
    holdfast.compaction
      chat summariser
    chat main
    holdfast.state.save`,
  );
  const [call] = observatory.named("invoke_agent digger");
  const evicted = call?.events.filter(({ name }) => name === "holdfast.tool_result_evicted");
  expect(evicted).toHaveLength(3);
  for (const kind of ["memory_flush", "consolidation"]) {
    const works = observatory.named(`holdfast.${kind}`);
    expect(works.length).toBeGreaterThan(0);
    for (const work of works) {
      expect(observatory.tree(work)).toBe(`holdfast.${kind}\n  chat rememberer`);
      expect(work.parentSpanContext).toBeUndefined();
      expect(work.links.map(({ context }) => context.spanId)).toEqual([call?.spanContext().spanId]);
      expect(work.spanContext().traceId).not.toBe(call?.spanContext().traceId);
    }
  }
});

test("nothing that was said, found, summed up or remembered leaves by telemetry", async () => {
  const word = fc
    .array(fc.constantFrom(..."bcdfghjkmnpqrstvwxyz"), { minLength: 14, maxLength: 20 })
    .map((letters) => letters.join(""));
  const story = fc.record({
    ...{ question: word, input: word, finding: word, answer: word, summary: word, fact: word },
  });
  const telling = async (told: Story, content: boolean): Promise<string> => {
    const observatory = new Observatory();
    const agent = await digger(observatory, told, { content });
    await agent.call(told.question, { sessionId: "s", userId: "u" });
    await agent.close();
    return observatory.exported();
  };
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const silent = await telling(told, false);
      expect(silent).toContain("holdfast.consolidation");
      for (const [place, text] of Object.entries(told))
        expect(silent.includes(text), place).toBe(false);
      const open = await telling(told, true);
      for (const place of ["question", "input", "finding", "answer", "summary"] as const)
        expect(open.includes(told[place]), place).toBe(true);
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 40 : 4 },
  );
});
