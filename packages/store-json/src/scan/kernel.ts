import { KERNEL_BYTES } from "./kernel-bytes.js";

/** Finds places in its memory where two bytes stand at a distance. */
export interface Kernel {
  /** Its memory: put here what is to be looked through, up to {@link WINDOW_BYTES} from the start. */
  readonly memory: Buffer;
  /**
   * The first place in `[at, end)` where the byte is `a0` or `a1` and the one `gap` further on is `b0` or `b1`. A number
   * that is negative, or not before `end`: there is none.
   */
  find(
    at: number,
    end: number,
    a0: number,
    a1: number,
    b0: number,
    b1: number,
    gap: number,
  ): number;
}

/** As much as fits in the memory of a kernel, and in the nearest cache of a processor. */
export const WINDOW_BYTES = 65_536;
/** The largest `gap`. */
export const MAX_GAP = 255;

/** The part of `WebAssembly` used here; Node's types have none. */
interface WebAssemblyLike {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => {
    readonly exports: {
      readonly memory: { readonly buffer: ArrayBuffer };
      readonly find: Kernel["find"];
    };
  };
}

/** A kernel of some bytes of WebAssembly, which looks at 64 places at once; in plain JavaScript where that cannot run. */
export function createKernel(): Kernel {
  try {
    const { Module, Instance } = Reflect.get(globalThis, "WebAssembly") as WebAssemblyLike;
    const { memory, find } = new Instance(new Module(Buffer.from(KERNEL_BYTES, "base64"))).exports;
    return { memory: Buffer.from(memory.buffer), find };
  } catch {
    // No WebAssembly (--jitless), or a processor without its vector instructions.
    return plainKernel();
  }
}

/** The same, slower, anywhere. */
export function plainKernel(): Kernel {
  const memory = Buffer.alloc(2 * WINDOW_BYTES);
  return {
    memory,
    find(start, end, a0, a1, b0, b1, gap) {
      for (let at = start; at < end; at++) {
        const a = memory[at];
        if (a !== a0 && a !== a1) continue;
        const b = memory[at + gap];
        if (b === b0 || b === b1) return at;
      }
      return -1;
    },
  };
}
