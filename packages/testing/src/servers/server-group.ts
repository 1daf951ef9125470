import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { tempDirectory } from "../crash/temp-directory.js";
import type { SupervisorReport, SupervisorRequest } from "./supervisor.js";

/** A server of a test's own, to be killed, stopped and started at a chosen moment. */
export interface ServerProcess {
  /** Of the running process; another one after `restart`. */
  readonly pid: number;
  /** Ends it as `kill -9` does, and waits for its end. */
  kill9(): Promise<void>;
  /** Pauses it (SIGSTOP): its sockets stay open and nothing answers. */
  pause(): void;
  /** Lets a paused one go on (SIGCONT). */
  resume(): void;
  /** Starts it again after its end, with the same arguments, over the same data; resolves when it answers. */
  restart(): Promise<void>;
}

/** Command line of one server of a group. */
export interface ServerSpec {
  readonly program: string;
  readonly args: readonly string[];
  /** Named in the error when the program is missing. */
  readonly debianPackage: string;
  /** Resolves to true once it answers; polled until then. */
  answers(): Promise<boolean>;
}

/** Longest time a server may take to answer. */
const startMs = 60_000;

/** Servers with one temporary directory. They end with `stop`, or with the process that started them, however that ends. */
export class ServerGroup implements AsyncDisposable {
  readonly directory: string;
  readonly #supervisor: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #listeners = new Map<number, (report: SupervisorReport) => void>();
  #requests = 0;

  private constructor(directory: string) {
    this.directory = directory;
    const program = fileURLToPath(import.meta.resolve("#supervisor"));
    this.#supervisor = spawn(process.execPath, [program, directory], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#ended = once(this.#supervisor, "exit").then(() => {
      for (const [id, listener] of this.#listeners)
        listener({ id, error: "the process that looks after it has ended" });
    });
    this.#supervisor.stdin?.on("error", () => undefined);
    if (this.#supervisor.stdout)
      createInterface({ input: this.#supervisor.stdout }).on("line", (line) => {
        const report = JSON.parse(line) as SupervisorReport;
        this.#listeners.get(report.id)?.(report);
      });
  }

  static async create(): Promise<ServerGroup> {
    const directory = await tempDirectory("holdfast-servers-");
    return new ServerGroup(directory.path);
  }

  /** Starts a server and waits until it answers. */
  async start(spec: ServerSpec): Promise<ServerProcess> {
    const server = new SupervisedServer(spec, (listener) => this.#request(spec, listener));
    await server.start();
    return server;
  }

  /** Ends all servers and deletes their directory; idempotent. */
  async stop(): Promise<void> {
    this.#supervisor.stdin?.end();
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #request({ program, args }: ServerSpec, listener: (report: SupervisorReport) => void): void {
    const id = this.#requests++;
    this.#listeners.set(id, (report) => {
      if (!("pid" in report)) this.#listeners.delete(id);
      listener(report);
    });
    const request: SupervisorRequest = { id, program, args };
    this.#supervisor.stdin?.write(`${JSON.stringify(request)}\n`);
  }
}

class SupervisedServer implements ServerProcess {
  readonly #spec: ServerSpec;
  readonly #spawn: (listener: (report: SupervisorReport) => void) => void;
  #pid = -1;
  #exited: Promise<string> = Promise.resolve("");

  constructor(spec: ServerSpec, spawnIt: (listener: (report: SupervisorReport) => void) => void) {
    this.#spec = spec;
    this.#spawn = spawnIt;
  }

  get pid(): number {
    return this.#pid;
  }

  async start(): Promise<void> {
    this.#pid = await new Promise<number>((resolve, reject) => {
      this.#exited = new Promise((exited) => {
        this.#spawn((report) => {
          if ("pid" in report) resolve(report.pid);
          else if ("error" in report) reject(this.#missing(report.error));
          if ("exited" in report) exited(report.output);
          if ("error" in report) exited(report.error);
        });
      });
    });
    let output: string | undefined;
    void this.#exited.then((text) => {
      output = text;
    });
    const deadline = performance.now() + startMs;
    for (;;) {
      const answers = await this.#spec.answers();
      // Another server may answer in place of one that has ended because its port was taken.
      if (answers && output === undefined) return;
      if (output !== undefined || performance.now() > deadline)
        throw new Error(`${this.#spec.program} did not start: ${output ?? "no answer"}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async kill9(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#exited;
  }

  pause(): void {
    this.#signal("SIGSTOP");
  }

  resume(): void {
    this.#signal("SIGCONT");
  }

  async restart(): Promise<void> {
    await this.#exited;
    await this.start();
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.#pid, signal);
    } catch (error) {
      // It ended by itself: there is nothing left to signal.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  #missing(reason: string): Error {
    const { program, debianPackage } = this.#spec;
    return new Error(
      `${program} cannot be started (${reason}). Install it, for example: apt-get install ${debianPackage}`,
    );
  }
}
