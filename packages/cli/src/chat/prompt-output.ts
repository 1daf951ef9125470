import { Writable } from "node:stream";

/**
 * Where readline writes its prompt and echoes keys. While the agent speaks it is quiet: keys that are pressed meanwhile
 * would stand in the middle of the reply.
 */
export class PromptOutput extends Writable {
  readonly isTTY = true;
  isQuiet = false;
  readonly #target: NodeJS.WritableStream;

  constructor(target: NodeJS.WritableStream) {
    super({ decodeStrings: false });
    this.#target = target;
    target.on("resize", () => this.emit("resize"));
  }

  get columns(): number | undefined {
    return (this.#target as { columns?: number }).columns;
  }

  override _write(chunk: string, _: BufferEncoding, done: () => void): void {
    if (!this.isQuiet) this.#target.write(chunk);
    // At once, and not when it is out: others write to the same terminal, and the order must stay.
    done();
  }
}
