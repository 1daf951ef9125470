import { createHash } from "node:crypto";

const maxChars = 64;
const hashChars = 6;
/** Names of tools that are gone are remembered up to this many. */
const maxRemembered = 10_000;

/**
 * The names of tools as a model sees them.
 *
 * Contract:
 * - A name fits `^[a-zA-Z0-9_-]{1,64}$`. One that had to be changed for that ends in a hash of what it was.
 * - Two tools never have one name: who comes second gets the hash.
 * - As long as this object lives a name never comes to mean another tool, also when its tool goes and comes back.
 */
export class ToolNames {
  readonly #owners = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** The name of a server's tool. */
  nameOf(server: string, prefix: string, tool: string): string {
    const owner = JSON.stringify([server, tool]);
    const known = this.#names.get(owner);
    if (known !== undefined) return known;
    const wanted = prefix + tool;
    const valid = wanted.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxChars);
    let name = valid === wanted ? wanted : hashed(valid, owner);
    for (let salt = 0; this.#owners.has(name); salt++) name = hashed(valid, `${owner}${salt}`);
    this.#owners.set(name, owner);
    this.#names.set(owner, name);
    return name;
  }

  /** Forgets tools that are gone when there are too many of them. */
  forget(isThere: (name: string) => boolean): void {
    if (this.#owners.size <= maxRemembered) return;
    for (const [name, owner] of this.#owners)
      if (!isThere(name)) {
        this.#owners.delete(name);
        this.#names.delete(owner);
      }
  }
}

function hashed(name: string, text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, hashChars);
  return `${name.slice(0, maxChars - hashChars - 1)}_${hash}`;
}
