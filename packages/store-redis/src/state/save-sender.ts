import type { Slot } from "@holdfast/core";
import { describeSlot, type StateWrite } from "@holdfast/core/store-kit";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { CarriedEntries } from "../inbox/carried-entries.js";
import { saveKeys } from "../keys.js";
import type { ResolvedOptions } from "../options.js";
import type { SaveArgs } from "./save-args.js";
import { saveScript } from "./save-script.js";
import { SavedHeads } from "./saved-heads.js";

/** Arguments of a script. */
type Args = readonly (string | number)[];

/**
 * Sends saves without what the server has: a head that is stored, messages of the input that came with the lease, and keys
 * that the save does not touch. A save that needs more of them after all is sent again, whole.
 */
export class SaveSender {
  /** Entries that leases of this process have put into inboxes. */
  readonly carried: CarriedEntries = new CarriedEntries();
  readonly heads: SavedHeads = new SavedHeads();
  readonly #connection: RedisConnection;
  readonly #options: ResolvedOptions;

  constructor(connection: RedisConnection, options: ResolvedOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /**
   * Returns the reply of the save script.
   *
   * @param log - arguments of `append_log`
   */
  async send(
    slot: Slot,
    write: StateWrite,
    args: SaveArgs,
    log: Args,
  ): Promise<readonly RedisReply[]> {
    const { revision, head, append } = args;
    const { expected, takes = [] } = write;
    const isStored = expected !== null && this.heads.has(expected, head);
    const places = append.map((text) => this.carried.refer(slot, takes, text));
    // A first save also removes what a deleted session may have left.
    const areKept = expected === null || this.#options.ttlMs !== undefined;
    let reply = await this.#run(slot, areKept, args.sent(isStored ? "" : head, places, log));
    if (reply[0] === "more") reply = await this.#run(slot, true, args.sent(head, append, log));
    if (reply[0] !== "saved") return reply;
    // A repeated save has the revision, and perhaps the head, of its first run.
    if (reply[1] === revision) this.heads.saved(expected, revision, head);
    this.carried.forget(slot, takes);
    return reply;
  }

  async #run(slot: Slot, areKept: boolean, args: Args): Promise<readonly RedisReply[]> {
    const { keyPrefix, minReplicas } = this.#options;
    const what = `saving ${describeSlot(slot)}`;
    const wrote = (answer: RedisReply) => Array.isArray(answer) && answer[0] === "saved";
    const keys = saveKeys(keyPrefix, slot, areKept);
    const reply = await this.#connection.run(what, saveScript, keys, args, { minReplicas, wrote });
    return reply as readonly RedisReply[];
  }
}
