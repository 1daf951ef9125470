/** Numbers by which one processor architecture knows the system calls that are refused. */
interface Architecture {
  /** `AUDIT_ARCH_*` of the kernel. */
  readonly audit: number;
  readonly fallocate: number;
  readonly ioUringSetup: number;
  readonly shmget: number;
  readonly prctl: number;
}

const architectures: { readonly [arch: string]: Architecture } = {
  x64: { audit: 0xc000_003e, fallocate: 285, ioUringSetup: 425, shmget: 29, prctl: 157 },
  arm64: { audit: 0xc000_00b7, fallocate: 47, ioUringSetup: 425, shmget: 194, prctl: 167 },
};

/** Largest System V shared memory segment: no process needs to hold one for it to stay, and 4,096 of them may exist. */
const MAX_SEGMENT_BYTES = 65_536;

/** First argument of `prctl` with which a process hides its open files from others of its user. */
const PR_SET_DUMPABLE = 4;

const EINVAL = 22;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
/** First number of the x32 system calls, which have numbers of their own. */
const X32 = 0x4000_0000;

const allow = 0x7fff_0000;
const refuse = (errno: number): number => 0x0005_0000 | errno;

/** Offsets in the kernel's `seccomp_data`; arguments are 64-bit numbers, their low half first. */
const field = { number: 0, architecture: 4, firstLow: 16, secondLow: 24, secondHigh: 28 } as const;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (value: number): Instruction => [0x06, 0, 0, value];
const equals = (value: number): Instruction => [0x15, 0, 1, value];
const isAtLeast = (value: number): Instruction => [0x35, 0, 1, value];

/**
 * Returns a seccomp program that refuses the system calls with which a command could take disk or memory in an instant, or
 * where no measuring sees it: `fallocate`, which the limit of a file's size does not bound, `io_uring`, which can do the
 * same, and large System V shared memory. A process that wants to hide what it has open is told that it does, and does not.
 * Undefined on an architecture whose numbers are not known.
 */
export function syscallFilter(arch: string = process.arch): Buffer | undefined {
  const known = architectures[arch];
  if (known === undefined) return undefined;
  // Each test skips the instruction after it when it fails.
  const program: Instruction[] = [
    load(field.architecture),
    [0x15, 1, 0, known.audit],
    answer(refuse(ENOSYS)),
    load(field.number),
    isAtLeast(X32),
    answer(refuse(ENOSYS)),
    equals(known.fallocate),
    answer(refuse(EOPNOTSUPP)),
    equals(known.ioUringSetup),
    answer(refuse(ENOSYS)),
    [0x15, 0, 4, known.prctl],
    load(field.firstLow),
    equals(PR_SET_DUMPABLE),
    answer(refuse(0)),
    answer(allow),
    [0x15, 1, 0, known.shmget],
    answer(allow),
    load(field.secondHigh),
    [0x15, 1, 0, 0],
    answer(refuse(EINVAL)),
    load(field.secondLow),
    isAtLeast(MAX_SEGMENT_BYTES + 1),
    answer(refuse(EINVAL)),
    answer(allow),
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
