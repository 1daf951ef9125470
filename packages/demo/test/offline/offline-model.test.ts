import { ConfigurationError, characterEstimate, userMessage } from "@holdfast/core";
import { describeModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { offlineModel } from "../../src/offline/offline-model.js";
import { asked, chunksOf, request, textIn } from "./requests.js";

const schema = { type: "object" } as const;

describeModel("offlineModel", {
  create: () => offlineModel({ contextWindow: 2_000 }),
  toolRequest: {
    messages: [userMessage("Read notes.md.")],
    tools: [{ name: "read_file", description: "Reads a file.", inputSchema: schema }],
  },
  overflowRequest: { messages: [userMessage("many words ".repeat(2_000))] },
});

describeModel("offlineModel with a pace", { create: () => offlineModel({ paceMs: 1 }) });

describe("offlineModel", () => {
  test("answers the same request with the same chunks", async () => {
    const one = request([userMessage("Find port in src.", { id: "m" })], ["grep_files"]);
    expect(await chunksOf(offlineModel(), one)).toEqual(await chunksOf(offlineModel(), one));
  });

  test("counts what it is sent and what it says", async () => {
    const counter = characterEstimate();
    const one = request([userMessage("Hello.")], ["read_file"], { system: "Be kind." });
    const finish = (await chunksOf(offlineModel(), one)).at(-1);
    const sent =
      counter.countText("Be kind.") +
      counter.countTools(one.tools) +
      counter.countMessages(one.messages);
    expect(finish).toMatchObject({ type: "finish", usage: { inputTokens: sent } });
    expect(finish?.type === "finish" && finish.usage.outputTokens).toBeGreaterThan(20);
  });

  test("says in its first reply that it is a script, and not in the second", async () => {
    const first = await chunksOf(offlineModel(), request([userMessage("Thanks.")]));
    expect(textIn(first)).toContain("not a language model");
    const second = await chunksOf(offlineModel(), request(asked("Thanks.")));
    expect(textIn(second)).toBe("You are welcome.");
  });

  test("says that it is a script when it is asked for more than it can, and how to get a model", async () => {
    const reply = textIn(
      await chunksOf(offlineModel(), request(asked("Write me a poem about the sea."))),
    );
    expect(reply).toContain("I am a script, not a model");
    expect(reply).toContain("ANTHROPIC_API_KEY");
    expect(reply).toContain("name one in holdfast.config.ts, if you have that file");
    expect(reply).toContain("find <text>");
  });

  test("streams in small pieces", async () => {
    const chunks = await chunksOf(offlineModel(), request([userMessage("Hello.")]));
    const pieces = chunks.filter(({ type }) => type === "text_delta");
    expect(pieces.length).toBeGreaterThan(20);
  });

  test("stops waiting for its own pace when the request is aborted", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const stream = offlineModel({ paceMs: 10_000 }).stream(
      request([userMessage("Hello.")], [], { signal: stop.signal }),
    );
    const next = stream[Symbol.asyncIterator]().next();
    stop.abort(reason);
    await expect(next).rejects.toBe(reason);
  });

  test.each([{ contextWindow: 0 }, { paceMs: -1 }, { paces: 1 }])(
    "refuses the options %j",
    (options) => {
      expect(() => offlineModel(options)).toThrow(ConfigurationError);
    },
  );
});
