import type { Block, DataBlock, Message } from "@holdfast/core";

/** Reads a transcript back into messages; data from the files it names. Exists to show that nothing is lost. */
export async function parseTranscript(
  text: string,
  readData: (path: string) => Promise<string>,
): Promise<Message[]> {
  let at = text.indexOf("\n") + 1;
  const messages: Message[] = [];
  const header = (): { marks: string; kind: string; fields: Record<string, unknown> } | null => {
    const found = /^\n(#{2,4}) (\w+) (\{[^\n]*\})\n/.exec(text.slice(at, at + 100_000));
    if (found === null) return null;
    at += found[0].length;
    return { marks: found[1] ?? "", kind: found[2] ?? "", fields: JSON.parse(found[3] ?? "") };
  };
  const body = ({ chars, as, ...fields }: Record<string, unknown>): [string, object] => {
    const end = at + (chars as number);
    const raw = text.slice(at, end);
    if (text[end] !== "\n") throw new Error(`the text at ${at} is not ${chars} characters long`);
    at = end + 1;
    return [as === "json" ? JSON.parse(raw) : raw, fields];
  };
  const block = async (kind: string, fields: Record<string, unknown>): Promise<Block> => {
    if (kind === "data") {
      if (fields["file"] === undefined) return { type: kind, ...fields } as DataBlock;
      const { file, ...rest } = fields;
      const source = { kind: "base64", data: await readData(file as string) };
      return { type: kind, ...rest, source } as DataBlock;
    }
    if (kind === "tool_result") {
      const { parts, ...rest } = fields;
      const output: Block[] = [];
      while (output.length < (parts as number)) {
        const part = header();
        if (part === null) throw new Error("a part is missing");
        output.push(await block(part.kind, part.fields));
      }
      return { type: kind, output, ...rest } as unknown as Block;
    }
    const [content, rest] = body(fields);
    if (kind === "tool_call") return { type: kind, input: JSON.parse(content), ...rest } as Block;
    return { type: kind, text: content, ...rest } as Block;
  };
  for (let next = header(); next !== null; next = header()) {
    if (next.marks === "##")
      messages.push({ role: next.kind, content: [], ...next.fields } as unknown as Message);
    else
      ((messages.at(-1) as Message).content as Block[]).push(await block(next.kind, next.fields));
  }
  if (at !== text.length) throw new Error(`not read: ${JSON.stringify(text.slice(at, at + 80))}`);
  return messages;
}
