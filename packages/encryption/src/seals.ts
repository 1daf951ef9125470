import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { type JsonObject, type Message, StateCorruptError } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { KeyRing } from "./key-ring.js";

/** Kind of a sealed text, and the version of its form. */
export type Purpose =
  | "holdfast.head.1"
  | "holdfast.message.1"
  | "holdfast.record.1"
  | "holdfast.blob.1"
  | "holdfast.value.1"
  | "holdfast.signal.1"
  | "holdfast.inbox.1"
  | "holdfast.call.1"
  | "holdfast.events.1"
  | "holdfast.info.1";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Shorter texts gain little from compression. */
const COMPRESSED_FROM_BYTES = 1_024;
const PLAIN = 0;
const DEFLATED = 1;
/** `1.<key id>.<nonce>.<ciphertext and tag>`, the last two in base64url. */
const form = /^1\.([\w-]{1,32})\.([\w-]{16})\.([\w-]{23,})$/;

/**
 * Seals texts of one purpose in one place, such as the messages of a slot, with AES-256-GCM.
 *
 * - Every place has its own keys, derived from the configured ones, so that random nonces suffice for as many records as a
 *   session will ever have.
 * - Purpose, place and record are bound to the text as associated data: it opens nowhere else.
 */
export class Seals {
  readonly #ring: KeyRing;
  readonly #bound: readonly [purpose: string, place: string];
  readonly #derived = new Map<string, Buffer>();

  constructor(ring: KeyRing, purpose: Purpose, place: string) {
    this.#ring = ring;
    this.#bound = [purpose, place];
  }

  /** Seals a text: it can be read only with the key, and only as this record. */
  seal(text: string, ...record: readonly string[]): string {
    return this.#seal(packText(text), record, randomBytes(NONCE_BYTES));
  }

  /**
   * Seals a text deterministically: the same text under the same key gives the same result, so that a store can keep it
   * once (dedupe).
   *
   * The nonce is a keyed hash of the encrypted bytes. Under the keys of this place it repeats only with the same bytes, and
   * then the whole result is the same: an observer learns only that two texts are equal. For two different texts to share a
   * nonce, 96 bits of the hash would have to collide, which takes some 2^48 texts in one place.
   */
  sealAlike(text: string): string {
    // Not compressed: another release of zlib may write other bytes for the same text.
    const bytes = packText(text, false);
    const key = this.#derive(this.#ring.encryptsWith, "nonce");
    const hash = createHmac("sha256", key).update(bytes).digest();
    return this.#seal(bytes, [], hash.subarray(0, NONCE_BYTES));
  }

  /**
   * Opens the text in a value with a field `sealed`; returns null for plaintext that `readPlaintext` allows.
   *
   * @param what - name of the value in the error, for example `message 3 of session "s"`
   * @throws StateCorruptError
   */
  open(value: unknown, what: string, ...record: readonly string[]): string | null {
    if (isRecord(value) && Object.hasOwn(value, "sealed")) {
      const { sealed } = value;
      return this.openText(Array.isArray(sealed) ? sealed.join("") : sealed, what, ...record);
    }
    if (this.#ring.readPlaintext) return null;
    throw new StateCorruptError(
      `${what} is not encrypted, and plaintext is not accepted. If it was stored before encryption was switched on, migrate it with readPlaintext: true; otherwise it was added to the store without a key`,
    );
  }

  /** Opens a sealed text. @throws StateCorruptError */
  openText(sealed: unknown, what: string, ...record: readonly string[]): string {
    const [, id = "", nonce = "", body = ""] = form.exec(String(sealed)) ?? [];
    if (id === "") throw new StateCorruptError(`${what} is damaged: it is not a sealed text`);
    if (!this.#ring.keys.has(id))
      throw new StateCorruptError(
        `${what} is encrypted with key "${id}", which is not configured. Add it to keys: an old key is needed for as long as anything is stored under it`,
      );
    try {
      return unpackText(this.#decrypt(id, nonce, Buffer.from(body, "base64url"), record));
    } catch {
      throw new StateCorruptError(
        `${what} does not open with key "${id}": it was changed, it belongs to another place or revision, or the id belongs to another key. It was left unchanged`,
      );
    }
  }

  #seal(bytes: Buffer, record: readonly string[], nonce: Buffer): string {
    const id = this.#ring.encryptsWith;
    const cipher = createCipheriv(CIPHER, this.#derive(id, "key"), nonce);
    cipher.setAAD(this.#associated(record));
    const body = Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    return `1.${id}.${nonce.toString("base64url")}.${body.toString("base64url")}`;
  }

  #decrypt(id: string, nonce: string, body: Buffer, record: readonly string[]): Buffer {
    const key = this.#derive(id, "key");
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(nonce, "base64url"), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(this.#associated(record));
    decipher.setAuthTag(body.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]);
  }

  #associated(record: readonly string[]): Buffer {
    return Buffer.from(JSON.stringify([...this.#bound, ...record]), "utf8");
  }

  #derive(id: string, use: "key" | "nonce"): Buffer {
    const name = `${use} ${id}`;
    let derived = this.#derived.get(name);
    const key = this.#ring.keys.get(id);
    if (derived === undefined && key !== undefined) {
      derived = createHmac("sha256", key)
        .update(JSON.stringify([use, ...this.#bound]))
        .digest();
      this.#derived.set(name, derived);
    }
    return derived as Buffer;
  }
}

/**
 * Returns the message that a store keeps in place of another: id, role and time stay readable for reports, the content is in
 * `sealed`. A reader uses the sealed copies of id, role and time.
 */
export function sealedMessage({ id, role, createdAt }: Message, sealed: JsonObject): Message {
  return { id, role, content: [], createdAt, metadata: sealed };
}

/**
 * Opens a sealed message.
 *
 * @throws StateCorruptError
 */
export function openMessage(
  seals: Seals,
  message: Message,
  what: string,
  ...record: readonly string[]
): Message {
  const text = seals.open(message?.metadata, what, ...record);
  return text === null ? message : (JSON.parse(text) as Message);
}

/**
 * Returns the bytes to encrypt: one byte for the format, then the text in UTF-8, deflated when that makes it shorter.
 * Compression makes up for the third that base64 adds, so that a text within a store's limits is within them encrypted too.
 *
 * The length of a compressed text reveals a little more than that of a plain one. That is dangerous where an attacker can
 * have chosen text compressed together with a secret many times, as in CRIME; here every record is compressed by itself and
 * holds the text of one session.
 */
function packText(text: string, compress: boolean = true): Buffer {
  const bytes = Buffer.from(text, "utf8");
  if (compress && bytes.length >= COMPRESSED_FROM_BYTES) {
    // It blocks the event loop: speed matters more than the last few bytes.
    const deflated = deflateRawSync(bytes, { level: constants.Z_BEST_SPEED });
    if (deflated.length < bytes.length) return Buffer.concat([Buffer.of(DEFLATED), deflated]);
  }
  return Buffer.concat([Buffer.of(PLAIN), bytes]);
}

/** Reverses {@link packText}; throws for anything else. */
function unpackText(bytes: Buffer): string {
  const rest = bytes.subarray(1);
  switch (bytes[0]) {
    case PLAIN:
      return rest.toString("utf8");
    case DEFLATED:
      return inflateRawSync(rest).toString("utf8");
    default:
      throw new TypeError("not packed by packText");
  }
}
