import { Writable } from "node:stream";

/**
 * Keeps stdout for one writer: until it is disposed of, what tools, plugins and libraries print goes to stderr, because a line
 * that is not a message would break the protocol.
 */
export class ReservedOutput implements Disposable {
  /** Stream for the one writer. */
  readonly stream: NodeJS.WritableStream;
  readonly #restore: () => void;

  constructor(output: NodeJS.WritableStream) {
    if (output !== process.stdout) {
      this.stream = output;
      this.#restore = () => undefined;
      return;
    }
    const { stdout, stderr } = process;
    const write = stdout.write.bind(stdout);
    const { log, info, debug } = console;
    this.stream = new Writable({
      write: (chunk: Uint8Array, _encoding, done) => void write(chunk, done),
    });
    stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
    Object.assign(console, { log: console.error, info: console.error, debug: console.error });
    this.#restore = () => {
      Object.assign(console, { log, info, debug });
      stdout.write = write;
    };
  }

  [Symbol.dispose](): void {
    this.#restore();
  }
}
