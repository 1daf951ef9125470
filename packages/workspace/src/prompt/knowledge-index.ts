import { FileCache, type FileInfo, type SharedFiles } from "@holdfast/core/plugin-kit";
import { oneLine } from "./skill.js";

/** Files whose first lines are read; a prompt has no room for more. */
const MAX_INDEXED_FILES = 300;
/** Size above which a file is listed without a title. */
const MAX_TITLED_BYTES = 1_048_576;
const HEAD_BYTES = 4_096;
const MAX_TITLE_CHARS = 120;

/** Files below `knowledge/`. */
export interface KnowledgeIndex {
  /** One line per file: path and title. */
  readonly entries: readonly string[];
  /** Number of files that are not listed. */
  readonly more: number;
}

/** Lists `knowledge/` with the first heading, or else the first line, of each file. */
export class KnowledgeReader {
  readonly #titles = new FileCache<string>();
  #last: { readonly list: readonly FileInfo[]; readonly index: KnowledgeIndex } | undefined;

  /** Returns the index of the files in a list of `knowledge/`; the same one for the same frozen list. */
  read(shared: SharedFiles, list: readonly FileInfo[]): KnowledgeIndex | Promise<KnowledgeIndex> {
    return this.#last?.list === list ? this.#last.index : this.#index(shared, list);
  }

  async #index(shared: SharedFiles, list: readonly FileInfo[]): Promise<KnowledgeIndex> {
    const files = list.filter(({ kind }) => kind === "file");
    const indexed = files.slice(0, MAX_INDEXED_FILES);
    const entries: string[] = [];
    let isWhole = true;
    for (const info of indexed) {
      const title = await this.#titles
        .get(info, () => readTitle(shared, info))
        .catch(() => {
          // A file that cannot be read now is listed without a title.
          isWhole = false;
          return "";
        });
      entries.push(`- ${oneLine(info.path)}${title === "" ? "" : `: ${title}`}`);
    }
    const index = { entries, more: files.length - indexed.length };
    this.#last = isWhole && Object.isFrozen(list) ? { list, index } : undefined;
    return index;
  }
}

async function readTitle(shared: SharedFiles, { path, bytes }: FileInfo): Promise<string> {
  if (bytes > MAX_TITLED_BYTES) return "";
  const content = await shared.read(path);
  return content === null ? "" : titleOf(new TextDecoder().decode(content.subarray(0, HEAD_BYTES)));
}

function titleOf(head: string): string {
  if (head.includes("\0")) return "";
  const lines = head.split("\n").map((line) => line.trim());
  const heading = lines.find((line) => /^#{1,6}\s+\S/.test(line));
  const first = heading ?? lines.find((line) => line !== "" && line !== "---") ?? "";
  return oneLine(first.replace(/^#+\s+/, ""), MAX_TITLE_CHARS);
}
