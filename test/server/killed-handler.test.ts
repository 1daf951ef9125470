import { scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { newPlace, type StorePlace, sharedStores } from "../fleet/every-store.js";

/** A lease that outlasts the test by far: a dead node is found by its silence. */
const leaseMs = 3_600_000;
const headers = { "x-user": "alice", "content-type": "application/json" };
const parts = [{ type: "text", text: "What is the answer?" }];
const body = JSON.stringify({ id: "trip", message: { id: "m", role: "user", parts } });

async function spawnHandler(place: StorePlace, options: object) {
  const args = [place.choice, options].map((arg) => JSON.stringify(arg));
  const process = spawnScript(new URL("handler-node.mjs", import.meta.url), args);
  const line = await process.line((printed) => printed.startsWith("port "));
  const url = `http://127.0.0.1:${line.slice("port ".length)}/api/chat`;
  return { url, process };
}

interface Chunk {
  readonly type: string;
  readonly delta?: string;
  readonly data?: { readonly steps?: number };
}

/** Yields the chunks of a stream, and throws where its connection breaks. */
async function* chunksOf(response: Response): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    const frames = (text + decoder.decode(bytes as Uint8Array, { stream: true })).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames)
      if (frame.startsWith("data: {")) yield JSON.parse(frame.slice("data: ".length)) as Chunk;
  }
}

/** Words of the steps that count. */
class Reply {
  readonly #steps: string[] = [];
  hasFinished = false;

  add({ type, delta = "", data }: Chunk): void {
    if (type === "start-step") this.#steps.push("");
    if (type === "text-delta") this.#steps.push(this.#steps.pop() + delta);
    if (type === "data-discarded") this.#steps.length -= data?.steps ?? 1;
    this.hasFinished ||= type === "finish";
  }

  get words(): string[] {
    return this.#steps.join("").split(" ").filter(Boolean);
  }
}

const words = (name: string, count: number) =>
  Array.from({ length: count }, (_, word) => `${name}${word}`);

describe.concurrent.each(scaled(["redis"] as const, sharedStores))("on %s", (kind) => {
  test.each(scaled([12], [2, 7, 12, 25]))(
    "the process of a handler is killed after %d words: the client goes on through another, and no word is lost",
    async (instant) => {
      await using place = await newPlace(kind, leaseMs);
      const dying = await spawnHandler(place, { pieceMs: 60, recover: true });
      const living = await spawnHandler(place, { pieceMs: 1, recover: true });
      await using _dying = dying.process;
      await using _living = living.process;
      const seen = new Reply();
      const cut = (async () => {
        const response = await fetch(dying.url, { method: "POST", headers, body });
        for await (const chunk of chunksOf(response)) {
          seen.add(chunk);
          if (seen.words.length === instant) await dying.process.kill9();
        }
      })();
      await expect(cut).rejects.toThrow();
      expect(seen.hasFinished).toBe(false);
      const loaded = await fetch(`${living.url}/trip/messages`, { headers });
      expect(loaded.headers.get("x-call-id")).toBe("message-m");
      expect(await loaded.json()).toMatchObject([{ id: "m", role: "user", parts }]);
      const reply = new Reply();
      const resumed = await fetch(`${living.url}/trip/stream?callId=message-m`, { headers });
      for await (const chunk of chunksOf(resumed)) {
        reply.add(chunk);
        expect(new Set(reply.words).size).toBe(reply.words.length);
      }
      expect(reply.hasFinished).toBe(true);
      expect(reply.words).toEqual([...words("look", 5), ...words("answer", 30)]);
      const log = (await (await fetch(`${living.url}/trip/messages`, { headers })).json()) as {
        readonly parts: readonly { readonly type: string; readonly text?: string }[];
      }[];
      const texts = log.at(-1)?.parts.flatMap(({ text }) => text ?? []) ?? [];
      expect(texts.join("").split(" ").filter(Boolean)).toEqual(reply.words);
      expect(log).toHaveLength(2);
    },
  );
});
