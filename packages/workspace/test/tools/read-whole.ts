import type { Answer } from "./tool-bench.js";

/** Reads a file as a model would: page after page, going on as the notes say. */
export async function readWhole(
  read: (request: { path: string; offset?: number; char_offset?: number }) => Promise<Answer>,
  path: string,
  onPage: (page: string) => void = () => undefined,
): Promise<string> {
  let whole = "";
  let next: { offset?: number; char_offset?: number } = {};
  for (let pages = 0; pages < 100_000; pages++) {
    const { blocks, isError } = await read({ path, ...next });
    const [page, note] = blocks;
    if (isError || page?.type !== "text" || note?.type !== "text" || blocks.length !== 2)
      throw new Error(`not a page: ${JSON.stringify(blocks).slice(0, 300)}`);
    onPage(page.text);
    const rows = page.text.split("\n").map((row) => row.slice(row.indexOf("\t") + 1));
    if (pages > 0 && next.char_offset === undefined) whole += "\n";
    whole += rows.join("\n");
    const go = /Go on with offset (\d+)(?: and char_offset (\d+))?\./.exec(note.text);
    if (go === null) {
      if (!note.text.includes("End of file.")) throw new Error(`no way on: ${note.text}`);
      return whole;
    }
    next = { offset: Number(go[1]), ...(go[2] && { char_offset: Number(go[2]) }) };
  }
  throw new Error("the file never ended");
}
