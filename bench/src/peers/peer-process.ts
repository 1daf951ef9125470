import { type ChildProcess, fork } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Contender, TurnEffort, TurnSample } from "../measure/contender.js";
import { directoryBytes } from "../stores/directory-bytes.js";
import type { StoreCounters, StoreSide } from "../stores/store-side.js";
import { writtenBytes } from "../stores/written-bytes.js";
import type { Peer } from "./peer.js";

/** Request to the process of a peer. */
export interface PeerRequest {
  readonly id: number;
  readonly kind: "seed" | "turn" | "turns";
  readonly sessionId: string;
  readonly messages?: number | undefined;
  readonly effort?: TurnEffort | undefined;
}

/** Its answer; the first, with id 0, says that it is ready. */
export interface PeerAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string | undefined;
}

/** Peer of a process, and the place at which it works. */
export interface PeerProcessOptions {
  /** Position of the peer in the list of all. */
  readonly index: number;
  readonly packages: string;
  readonly directory: string;
  readonly redisUrl: string;
}

const program = fileURLToPath(new URL("./peer-host.js", import.meta.url));

/** Longest round of a peer: those that keep everything in memory would fill it otherwise. */
const MAX_ROUND_MS = 300;

/** A peer in a process of its own, which measures its turns itself. */
export class PeerProcess implements Contender, Pick<StoreSide, "storedBytes" | "counters"> {
  readonly name: string;
  readonly store: string;
  readonly #directory: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolversLike>();
  #requests = 0;
  #stderr = "";

  private constructor({ name, store }: Peer, options: PeerProcessOptions) {
    this.name = name;
    this.store = store;
    const { index, packages, directory, redisUrl } = options;
    this.#directory = directory;
    this.#child = fork(program, [String(index), packages, directory, redisUrl], {
      execArgv: ["--max-old-space-size=8192"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // None of them has to tell anybody that it was used.
      env: { ...process.env, DO_NOT_TRACK: "1", MASTRA_TELEMETRY_DISABLED: "1" },
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4_000);
    });
    this.#child.on("message", (answer: PeerAnswer) => this.#settle(answer));
    this.#child.on("exit", () => this.#end());
  }

  /** Starts the process and waits until a turn has worked. */
  static async start(peer: Peer, options: PeerProcessOptions): Promise<PeerProcess> {
    await mkdir(options.directory, { recursive: true });
    const started = new PeerProcess(peer, options);
    try {
      await started.#answerTo(0);
      await started.seed("first", 10);
      await started.turn("first");
      return started;
    } catch (error) {
      started.stop();
      throw error;
    }
  }

  async seed(sessionId: string, messages: number): Promise<void> {
    await this.#ask({ kind: "seed", sessionId, messages });
  }

  async turn(sessionId: string): Promise<void> {
    await this.#ask({ kind: "turn", sessionId });
  }

  async takeTurns(sessionId: string, { batch, maxMs }: TurnEffort): Promise<TurnSample> {
    const effort = { batch, maxMs: Math.min(maxMs, MAX_ROUND_MS) };
    return (await this.#ask({ kind: "turns", sessionId, effort })) as TurnSample;
  }

  /** Bytes of the files it keeps sessions in. */
  storedBytes(): Promise<number> {
    return directoryBytes(this.#directory);
  }

  /** Bytes it has written, a few per request to this process among them. */
  async counters(): Promise<StoreCounters> {
    return { bytesSent: await writtenBytes(this.#child.pid) };
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }

  #ask(request: Omit<PeerRequest, "id">): Promise<unknown> {
    const id = ++this.#requests;
    const answer = this.#answerTo(id);
    if (this.#child.connected) this.#child.send({ ...request, id });
    else this.#end();
    return answer;
  }

  #answerTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #settle({ id, result, error }: PeerAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(firstLine(error)));
  }

  #end(): void {
    // Node shows where it threw before it says what.
    const said = this.#stderr.split("\n").find((line) => /error/i.test(line));
    for (const id of [...this.#waiting.keys()])
      this.#settle({ id, error: said ?? "its process ended" });
  }
}

interface PromiseWithResolversLike {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Beginning of a message: some quote a whole command. */
function firstLine(text: string): string {
  return text.split("\n")[0]?.split(", with args")[0]?.trim().slice(0, 200) ?? "";
}
