import { StringDecoder } from "node:string_decoder";

/**
 * Reads the lines of a UTF-8 stream. Unlike with readline they end at line feeds only: JSON may contain other characters
 * that readline takes for line ends.
 */
export async function* textLines(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  // Joined once per line: a line of megabytes arrives in thousands of chunks.
  let started: string[] = [];
  for await (const chunk of stream) {
    const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
    const [first = "", ...rest] = text.split("\n");
    started.push(first);
    for (const next of rest) {
      yield withoutReturn(started.join(""));
      started = [next];
    }
  }
  const last = started.join("") + decoder.end();
  if (last !== "") yield withoutReturn(last);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
