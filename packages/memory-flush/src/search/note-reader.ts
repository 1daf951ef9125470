/** The smallest thing a search finds: a list item with the lines that belong to it, or a paragraph. */
export interface Note {
  /** Where it begins, from 1. */
  readonly line: number;
  /** One line, without the mark of the list. */
  readonly text: string;
  /** The heading it stands under; empty without one. */
  readonly heading: string;
}

/** A longer note is taken for several, so that none takes long to look at. */
const MAX_NOTE_CHARS = 4_096;

const HEADING = /^ {0,3}#{1,6}(?:[ \t]+(.*))?$/s;
const ITEM = /^([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+(.*)$/s;
/** A line that is not seen where Markdown is shown. */
const COMMENT = /^\s*<!--.*-->\s*$/s;
/** What an entry of the day's notes begins with: it tells when and by whom, and nothing to search for. */
const ENTRY_HEADING = /^\d{4}-\d{2}-\d{2}T/;

/** All but a single space, which mostly is all there is. */
const SPACES = /[^\S ]\s*| \s+/g;

/** Takes the lines of a Markdown file one by one and gives its notes. */
export class NoteReader {
  #heading = "";
  /** A heading under which no note has been seen yet. */
  #bareHeading: Note | null = null;
  #line = 0;
  #lastLine = 0;
  #indent = -1;
  #chars = 0;
  #parts: string[] = [];

  /** Takes a line and gives the notes that it ends. A line may come in pieces, each under the same number. */
  push(text: string, line: number): Note[] {
    const isPiece = line === this.#lastLine;
    this.#lastLine = line;
    const ended: Note[] = [];
    const begin = (indent: number, first: string): void => {
      this.#flush(ended);
      this.#line = line;
      this.#indent = indent;
      this.#add(first);
    };
    const heading = isPiece ? null : HEADING.exec(text.trimEnd());
    if (heading !== null) {
      this.#flush(ended);
      this.#flushHeading(ended);
      this.#setHeading(heading[1] ?? "", line);
      return ended;
    }
    if (text.trim() === "" || (!isPiece && COMMENT.test(text))) {
      this.#flush(ended);
      return ended;
    }
    const [, indent = "", item] = (isPiece ? null : ITEM.exec(text)) ?? [];
    const isNested = this.#indent >= 0 && indent.length > this.#indent && this.#parts.length > 0;
    if (item !== undefined && !isNested) begin(indent.length, item);
    else if (this.#parts.length === 0 || this.#chars > MAX_NOTE_CHARS) begin(-1, text);
    else this.#add(item ?? text);
    return ended;
  }

  /** The notes that the end of the file ends. */
  end(): Note[] {
    const ended: Note[] = [];
    this.#flush(ended);
    this.#flushHeading(ended);
    return ended;
  }

  #add(text: string): void {
    this.#parts.push(text);
    this.#chars += text.length;
  }

  #setHeading(marked: string, line: number): void {
    const text = oneLine(marked.replace(/[ \t]+#+$/, ""));
    this.#heading = ENTRY_HEADING.test(text) ? "" : text;
    // Somebody may have put the fact itself in the heading.
    if (this.#heading !== "") this.#bareHeading = { line, text, heading: "" };
  }

  #flush(ended: Note[]): void {
    const text = oneLine(this.#parts.join(" "));
    this.#parts = [];
    this.#chars = 0;
    this.#indent = -1;
    if (text === "") return;
    this.#bareHeading = null;
    ended.push({ line: this.#line, text, heading: this.#heading });
  }

  #flushHeading(ended: Note[]): void {
    if (this.#bareHeading !== null) ended.push(this.#bareHeading);
    this.#bareHeading = null;
  }
}

/** All notes of a short text. */
export function notesIn(text: string): Note[] {
  const reader = new NoteReader();
  const notes = text.split("\n").flatMap((line, index) => reader.push(line, index + 1));
  return [...notes, ...reader.end()];
}

function oneLine(text: string): string {
  return text.replace(SPACES, " ").trim();
}
