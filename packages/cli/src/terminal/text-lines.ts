import { StringDecoder } from "node:string_decoder";

/**
 * The lines of a stream of UTF-8, without their ends. Unlike readline's, they end at line feeds only: JSON may hold other
 * characters that readline takes for one.
 */
export async function* textLines(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  // In pieces: a line of megabytes comes in thousands of them.
  let begun: string[] = [];
  for await (const chunk of stream) {
    const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
    const [first = "", ...rest] = text.split("\n");
    begun.push(first);
    for (const next of rest) {
      yield withoutReturn(begun.join(""));
      begun = [next];
    }
  }
  const last = begun.join("") + decoder.end();
  if (last !== "") yield withoutReturn(last);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
