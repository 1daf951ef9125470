/** The characters of JSON text, from the most common one on, as counted in logs of conversations. */
const COMMON =
  "\" \\etanoisr:,lcd_umhg0f2ybp1{}-v459AT37*8I6HwSkD.[]FOMLECPRKBJNXWUY'GQVxzj?Zq#!()$+@&%/;=<>|`~^";

const weights: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  const rank = byte < 0x80 ? COMMON.indexOf(String.fromCharCode(byte)) : -1;
  if (rank !== -1) return 0.1 * 0.92 ** rank;
  // Where they occur at all they are every second or third byte: starts of characters, then what follows them.
  if (byte >= 0xc2 && byte < 0xf0) return 0.02;
  return byte >= 0x80 ? 0.005 : 0.0001;
});

/** About which part of the bytes of a log are one of these. */
export function commonness(bytes: Iterable<number>): number {
  let sum = 0;
  for (const byte of bytes) sum += weights[byte] ?? 0;
  return sum;
}
