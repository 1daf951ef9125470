import {
  type AgentStateStore,
  type ConversationLog,
  type DistributedStore,
  InMemoryAgentStateStore,
  type Revision,
  type SessionGate,
  type Slot,
  type SlotQuery,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "@holdfast/core";
import type { Inbox, LogDraft, LogRange, StateWrite } from "@holdfast/core/store-kit";

/** What an agent can ask of its store, gate and log. */
export type CommandName =
  | "acquire"
  | "load"
  | "save"
  | "delete"
  | "list"
  | "append"
  | "read"
  | "deleteLog"
  | "put"
  | "readInbox"
  | "remove";

/** One command as it arrived, and its outcome. */
export interface Command {
  readonly name: CommandName;
  readonly slot?: Slot | undefined;
  /** The revision a load or a lease was asked with. */
  known?: Revision | undefined;
  readonly write?: StateWrite | undefined;
  readonly records?: readonly LogDraft[] | undefined;
  /** Absent when it failed. */
  answer?: unknown;
}

/** Stands between an agent and a command: runs it or not, and answers what it likes. */
export type Fault = <T>(run: () => Promise<T>, command: Command) => Promise<T>;

/** Refuses without doing anything. */
export const unavailable: Fault = async () => {
  throw new StoreUnavailableError("the store is away");
};

/** Does the work and loses the answer. */
export const lostAnswer: Fault = async (run) => {
  await run();
  throw new UnknownOutcomeError("the answer was lost");
};

/** Never answers, and does nothing. */
export const noAnswer: Fault = () => new Promise(() => undefined);

/** A real in-memory store, with its gate and its log, that writes every command down and can make the next ones fail. */
export class FaultyStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "faulty";
  readonly reach = "process";
  readonly inner: InMemoryAgentStateStore;
  readonly fuses: AgentStateStore["fuses"];
  readonly inbox: Inbox;
  readonly keepsCallRecords = true;
  /** Oldest first. */
  readonly commands: Command[] = [];
  readonly #parts: DistributedStore;
  readonly #next = new Map<CommandName, (Fault | undefined)[]>();
  readonly #every = new Map<CommandName, Fault>();

  constructor(options: { readonly fused: boolean }) {
    this.inner = new InMemoryAgentStateStore(options);
    const parts = this.inner.companions();
    const gate = this.#gate(parts.gate);
    const log = this.#log(parts.log);
    this.inbox = this.#inbox(this.inner.inbox);
    this.#parts = { ...parts, stateStore: this, gate, log };
    this.fuses = options.fused ? { gate, log } : undefined;
  }

  /** What happens to the next commands of that name, one each; undefined lets one pass. */
  next(name: CommandName, ...faults: (Fault | undefined)[]): void {
    this.#next.set(name, [...(this.#next.get(name) ?? []), ...faults]);
  }

  /** What happens to all commands of that name that `next` says nothing about, until told otherwise. */
  every(name: CommandName, fault: Fault | undefined): void {
    if (fault) this.#every.set(name, fault);
    else this.#every.delete(name);
  }

  /** The commands of that name so far. */
  of(name: CommandName): Command[] {
    return this.commands.filter((command) => command.name === name);
  }

  /** The writes of all saves so far, repeated ones included. */
  get writes(): StateWrite[] {
    return this.of("save").map(({ write }) => write as StateWrite);
  }

  load(slot: Slot, known?: Revision) {
    return this.#run({ name: "load", slot, known }, () => this.inner.load(slot, known));
  }

  save(slot: Slot, write: StateWrite) {
    return this.#run({ name: "save", slot, write }, () => this.inner.save(slot, write));
  }

  delete(slot: Slot) {
    return this.#run({ name: "delete", slot }, () => this.inner.delete(slot));
  }

  list(query?: SlotQuery) {
    return this.#run({ name: "list" }, () => this.inner.list(query));
  }

  companions(): DistributedStore {
    return this.#parts;
  }

  close() {
    return this.inner.close();
  }

  async #run<T>(command: Command, run: () => Promise<T>): Promise<T> {
    this.commands.push(command);
    const waiting = this.#next.get(command.name);
    const fault = waiting?.length ? waiting.shift() : this.#every.get(command.name);
    const answer = await (fault ? fault(run, command) : run());
    command.answer = answer;
    return answer;
  }

  #gate(gate: SessionGate): SessionGate {
    return {
      contract: 1,
      kind: gate.kind,
      reach: gate.reach,
      acquire: (slot, request) => {
        const command: Command = { name: "acquire", slot };
        const known = () => {
          command.known = request.known?.();
          return command.known;
        };
        return this.#run(command, () => gate.acquire(slot, { ...request, known }));
      },
      calls: (slot) => gate.calls(slot),
    };
  }

  #inbox(inbox: Inbox): Inbox {
    return {
      put: (slot, entry) => this.#run({ name: "put", slot }, () => inbox.put(slot, entry)),
      read: (slot) => this.#run({ name: "readInbox", slot }, () => inbox.read(slot)),
      remove: (slot, ids) => this.#run({ name: "remove", slot }, () => inbox.remove(slot, ids)),
    };
  }

  #log(log: ConversationLog): ConversationLog {
    return {
      contract: 1,
      kind: log.kind,
      reach: log.reach,
      append: (slot, records) =>
        this.#run({ name: "append", slot, records }, () => log.append(slot, records)),
      read: (slot: Slot, range?: LogRange) =>
        this.#run({ name: "read", slot }, () => log.read(slot, range)),
      readBlob: (slot, ref) => log.readBlob(slot, ref),
      search: (query) => log.search(query),
      sessions: (query) => log.sessions(query),
      delete: (slot) => this.#run({ name: "deleteLog", slot }, () => log.delete(slot)),
    };
  }
}
