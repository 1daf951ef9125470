const marks = [Buffer.from("#!"), Buffer.from("\x7fELF", "latin1")];

/** Whether bytes begin as a script with an interpreter line or a compiled program does. */
export function isProgram(bytes: Uint8Array): boolean {
  return marks.some((mark) => mark.equals(bytes.subarray(0, mark.length)));
}
