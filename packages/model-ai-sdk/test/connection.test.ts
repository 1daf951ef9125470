import { type ModelChunk, ModelError, userMessage } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { providerNamed, providers, running } from "./providers.js";
import { recordingModel, textReply } from "./recording-model.js";
import { chunksOf, failureOf, request } from "./requests.js";

const text = ["one ", "two ", "three ", "four "];

for (const provider of providers)
  describe(`the connection of ${provider.name}`, () => {
    test("a cut in mid-reply is worth another try", async () => {
      const fault = { afterDeltas: 2, kind: "cut" } as const;
      await using run = await running(provider, [{ text, fault }, { text }]);
      const error = await failureOf(chunksOf(run.model, request()));
      expect(ModelError.is(error)).toBe(true);
      expect(error).toMatchObject({ kind: "connection", retryable: true });
      expect((await chunksOf(run.model, request())).at(-1)).toMatchObject({ reason: "stop" });
    });

    test("a reply that stalls is left, and the connection closed", async () => {
      const fault = { afterDeltas: 2, kind: "stall" } as const;
      await using run = await running(provider, [{ text, fault }], { idleTimeoutMs: 20 });
      const error = await failureOf(chunksOf(run.model, request()));
      expect(error).toMatchObject({ code: "MODEL", kind: "connection", retryable: true });
      expect(String(error)).toMatch(
        /model .* hung: its reply stopped, nothing arrived for 20 ms; if it may take longer, raise idleTimeoutMs/,
      );
      await run.server.disconnected();
    });

    test("a model that does not answer says that it hung, and which option sets the limit", async () => {
      const replies = () => ({ text, delayMs: 600_000 });
      await using run = await running(provider, replies, { firstChunkTimeoutMs: 20 });
      const error = await failureOf(chunksOf(run.model, request()));
      expect(error).toMatchObject({ code: "MODEL", kind: "connection", retryable: true });
      expect(String(error)).toMatch(
        /model .* hung: it did not begin to answer, nothing arrived for 20 ms; if it may take longer, raise firstChunkTimeoutMs/,
      );
    });

    test("an abort before the reply begins closes the connection", async () => {
      const controller = new AbortController();
      const reason = new Error("the user pressed stop");
      await using run = await running(provider, () => {
        controller.abort(reason);
        return { text, delayMs: 600_000 };
      });
      const { signal } = controller;
      expect(await failureOf(chunksOf(run.model, request({ signal })))).toBe(reason);
      await run.server.disconnected();
    });

    test("an abort in mid-reply closes the connection and gives the signal's reason", async () => {
      const fault = { afterDeltas: 2, kind: "stall" } as const;
      await using run = await running(provider, [{ text, fault }]);
      const controller = new AbortController();
      const reason = new Error("the user pressed stop");
      const got: ModelChunk[] = [];
      const read = async (): Promise<void> => {
        for await (const chunk of run.model.stream(request({ signal: controller.signal }))) {
          got.push(chunk);
          if (got.length === 1) setImmediate(() => controller.abort(reason));
        }
      };
      expect(await failureOf(read())).toBe(reason);
      expect(got.length).toBeGreaterThan(0);
      await run.server.disconnected();
      await eventually(() => expect(run.server.openConnections).toBe(0));
    });

    test("a reader that leaves closes the connection", async () => {
      const fault = { afterDeltas: 2, kind: "stall" } as const;
      await using run = await running(provider, [{ text, fault }]);
      for await (const _ of run.model.stream(request())) break;
      await run.server.disconnected();
    });

    test("a reply that is read to its end leaves the connection to the server", async () => {
      await using run = await running(provider, [{ text }, { text }]);
      await chunksOf(run.model, request());
      await chunksOf(run.model, request());
      let isReported = false;
      void run.server.disconnected().then(() => {
        isReported = true;
      });
      await eventually(() => expect(run.server.openConnections).toBe(0));
      expect(isReported).toBe(false);
    });
  });

test("nothing listens there: a connection error that is worth another try", async () => {
  for (const provider of providers) {
    const run = await running(provider, []);
    await run.server.close();
    const error = await failureOf(chunksOf(run.model, request()));
    expect(error, provider.name).toMatchObject({ kind: "connection", retryable: true });
  }
});

test("a server that does not answer is left: a connection error that is worth another try", async () => {
  const provider = providerNamed("compatible v3");
  await using run = await running(provider, [{ text, delayMs: 600_000 }], {
    firstChunkTimeoutMs: 20,
  });
  const error = await failureOf(chunksOf(run.model, request()));
  expect(error).toMatchObject({ code: "MODEL", kind: "connection", retryable: true });
  await eventually(() => expect(run.server.openConnections).toBe(0));
});

/** A model whose reply opens when the test says so, and an abort once it was asked. */
function abortedWhileOpening() {
  const controller = new AbortController();
  let resolve: (opened: { stream: ReadableStream }) => void = () => {};
  const opened = new Promise<{ stream: ReadableStream }>((settle) => {
    resolve = settle;
  });
  const model = fromAiSdk({
    ...recordingModel(),
    doStream: () => {
      setImmediate(() => controller.abort(new Error("enough")));
      return opened;
    },
  });
  return { open: resolve, work: chunksOf(model, request({ signal: controller.signal })) };
}

test("a model that ignores its signal does not hold the reader", async () => {
  const { work } = abortedWhileOpening();
  expect(await failureOf(work)).toMatchObject({ message: "enough" });
});

test("a reply that opens after its reader left is cancelled", async () => {
  const { open, work } = abortedWhileOpening();
  await failureOf(work);
  await new Promise<void>((cancel) => {
    open({ stream: new ReadableStream({ cancel: () => cancel() }) });
  });
});

test("a model that gives no stream fails the call, and nothing but the call", async () => {
  const model = fromAiSdk({ ...recordingModel(), doStream: async () => ({}) as never });
  // A rejection nobody handles would fail the run.
  expect(await failureOf(chunksOf(model, request()))).toMatchObject({ code: "MODEL" });
});

test("a package that never tells which URLs it takes is left like one that does not answer", async () => {
  const supportedUrls = new Promise<never>(() => {});
  const model = fromAiSdk({ ...recordingModel(), supportedUrls }, { firstChunkTimeoutMs: 20 });
  expect(await failureOf(chunksOf(model, request()))).toMatchObject({ kind: "connection" });
});

test("only waiting for the model counts as a stall, a slow reader does not", async () => {
  const model = fromAiSdk(recordingModel({ reply: () => textReply("Hello.", "v3") }), {
    idleTimeoutMs: 20,
  });
  for await (const _ of model.stream(request({ messages: [userMessage("Hi.")] })))
    await new Promise((resolve) => setTimeout(resolve, 40));
});

test("no listener is left on the signal of a session that lives long", async () => {
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  const model = fromAiSdk(recordingModel());
  for (let count = 0; count < 3; count++) await chunksOf(model, request({ signal }));
  expect(listeners).toBe(0);
});
