import assert from "node:assert/strict";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentStateStore, DistributedStore, Slot } from "@holdfast/core";
import { textOf, userMessage } from "@holdfast/core";
import { isWhole } from "@holdfast/core/store-kit";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { scaled } from "../conformance/scaled.js";
import { eventually } from "../crash/eventually.js";
import { type SpawnedScript, spawnScript } from "../crash/spawn-script.js";

/** Module by which other processes open a store. */
export interface ProcessOptions {
  /**
   * JavaScript module that exports `open(location)`, which returns the store, or a promise of it. Processes import it, and
   * `@holdfast/core` from its directory.
   */
  readonly module: URL | string;
  /** A fresh, empty place to pass to `open`: a directory, a prefix, a URL. Called once per case. */
  location(): string | Promise<string>;
  /** Added to the environment of the processes. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "processes" };
const namespace = ["processes"];

/** Appends to state, log and values of one session, turn by turn, and says what was acknowledged. */
const writer = `
import { userMessage } from "@holdfast/core";
import { isWhole, uuidv7 } from "@holdfast/core/store-kit";
const [module, location, slotText, name, turns] = process.argv.slice(1);
const slot = JSON.parse(slotText);
const store = await (await import(module)).open(location);
const { gate, log, keyValue } = store.companions();
for (let turn = 0; turn < Number(turns); turn++) {
  const lease = await gate.acquire(slot, { callId: name + turn });
  console.log("turn " + name + turn);
  const loaded = await store.load(slot);
  const messages = isWhole(loaded) ? loaded.messages : [];
  const text = name + ":" + turn;
  const draft = { v: 1, id: text, callId: text, at: new Date().toISOString() };
  await log.append(slot, [{ ...draft, kind: "message", message: userMessage(text) }]);
  await keyValue.put(${JSON.stringify(namespace)}, text, turn);
  await store.save(slot, {
    ...{ op: uuidv7(), expected: loaded?.revision ?? null, head: {}, replace: [] },
    ...{ keep: messages.length, append: [userMessage(text)] },
  });
  await lease.release();
  console.log("saved " + text);
}
await store.close();
console.log("done");
`;

/** Takes a session, listens for signals, and says what happens to it. */
const holder = `
const [module, location, slotText, callId] = process.argv.slice(1);
const slot = JSON.parse(slotText);
const store = await (await import(module)).open(location);
const { gate, signals } = store.companions();
const hear = ({ kind, message }) => console.log(kind + " " + message?.content[0].text);
await signals.listen(slot, callId, hear, { enters: gate });
const lease = await gate.acquire(slot, { callId });
lease.lost.addEventListener("abort", () => console.log("lost"));
setInterval(() => lease.lost.aborted, 50);
console.log("held");
`;

/** Processes that are killed with `kill -9` and stopped with `SIGSTOP` while they use a store. */
export function processCases(options: ProcessOptions): ConformanceCase[] {
  const check = (
    title: string,
    body: (processes: Processes, store: AgentStateStore, parts: DistributedStore) => Promise<void>,
  ): ConformanceCase => ({
    title,
    async run() {
      const location = await options.location();
      const store = await openHere(options, location);
      const processes = new Processes(options, location);
      try {
        const parts = store.companions?.();
        assert.ok(parts, "the store has companions()");
        await body(processes, store, parts);
      } finally {
        await processes.end();
        await store.close();
      }
    },
  });
  return [
    check(
      "nothing that was acknowledged is lost by kill -9, and nothing comes twice",
      async (processes, store, parts) => {
        const turns = scaled(40, 200);
        const names = ["a", "b", "c"];
        const writers = names.map((name) => processes.start(writer, [name, String(turns)]));
        const [victim, ...others] = writers as [SpawnedScript, ...SpawnedScript[]];
        await victim.line("saved a:4");
        await victim.kill9();
        await Promise.all(others.map((each) => each.line("done")));
        await assertNothingLost(writers, store, parts);
        const finished = others.flatMap(({ lines }) => lines.filter((line) => /^saved/.test(line)));
        assert.equal(finished.length, 2 * turns, "the others made all their turns");
      },
    ),
    check("a session whose holder was killed goes on", async (processes, _store, parts) => {
      const dead = processes.start(holder, ["c-1"]);
      await dead.line("held");
      await dead.kill9();
      const lease = await parts.gate.acquire(slot, { callId: "c-2" });
      await lease.release();
      assert.deepStrictEqual(await parts.gate.calls(slot), []);
    }),
    check("a process that stood still learns what it lost", async (processes, _store, parts) => {
      const stalled = processes.start(holder, ["c-1"]);
      await stalled.line("held");
      process.kill(stalled.pid, "SIGSTOP");
      const lease = await parts.gate.acquire(slot, { callId: "c-2" });
      process.kill(stalled.pid, "SIGCONT");
      await stalled.line("lost");
      assert.deepStrictEqual(await parts.gate.calls(slot), ["c-2"]);
      assert.equal(lease.lost.aborted, false);
      await lease.release();
    }),
    check("an interrupt reaches the call in another process", async (processes, _store, parts) => {
      const running = processes.start(holder, ["c-1"]);
      await running.line("held");
      const signal = { kind: "interrupt", message: userMessage("stop") } as const;
      assert.equal(await parts.signals.send(slot, "c-2", signal), false, "no such call");
      assert.equal(await parts.signals.send(slot, "c-1", signal), true);
      await running.line("interrupt stop");
    }),
  ];
}

/** Processes of one case, over the same data. */
class Processes {
  readonly #options: ProcessOptions;
  readonly #location: string;
  readonly #started: SpawnedScript[] = [];

  constructor(options: ProcessOptions, location: string) {
    this.#options = options;
    this.#location = location;
  }

  start(source: string, args: readonly string[]): SpawnedScript {
    const { env } = this.#options;
    const { href, directory } = placeOf(this.#options.module);
    const script = spawnScript(source, [href, this.#location, JSON.stringify(slot), ...args], {
      env,
      cwd: directory,
    });
    this.#started.push(script);
    return script;
  }

  async end(): Promise<void> {
    await Promise.all(this.#started.map((script) => script[Symbol.asyncDispose]()));
  }
}

/** Fails unless state, log and values hold every acknowledged turn once, each process's in order. */
async function assertNothingLost(
  writers: readonly SpawnedScript[],
  store: AgentStateStore,
  { log, keyValue }: DistributedStore,
): Promise<void> {
  const loaded = await eventually(() => store.load(slot));
  assert.ok(isWhole(loaded));
  const saved = loaded.messages.map((message) => textOf(message));
  const logged = (await log.read(slot, { limit: 10_000 })).map(({ id }) => id);
  assert.equal(new Set(saved).size, saved.length, "no turn is saved twice");
  assert.equal(new Set(logged).size, logged.length, "no record comes twice");
  for (const { lines } of writers) {
    const acknowledged = lines
      .filter((line) => line.startsWith("saved "))
      .map((line) => line.slice(6));
    const ofThis = (text: string): boolean => acknowledged.includes(text);
    assert.deepStrictEqual(saved.filter(ofThis), acknowledged, "acknowledged saves, in order");
    assert.deepStrictEqual(logged.filter(ofThis), acknowledged, "acknowledged records, in order");
    const values = await keyValue.getMany(namespace, acknowledged);
    assert.ok(!values.includes(null), "acknowledged values");
  }
}

async function openHere(options: ProcessOptions, location: string): Promise<AgentStateStore> {
  const { href } = placeOf(options.module);
  const { open }: { open?: unknown } = await import(href);
  assert.equal(typeof open, "function", `${href} must export open(location)`);
  const store = await (open as (location: string) => unknown)(location);
  assert.ok(store, `open(location) of ${href} must return the store`);
  return store as AgentStateStore;
}

function placeOf(module: URL | string): { readonly href: string; readonly directory: string } {
  const url = module instanceof URL ? module : new URL(`file://${module}`);
  return { href: url.href, directory: dirname(fileURLToPath(url)) };
}
