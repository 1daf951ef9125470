/** The smallest unit that a search finds: a list item with its continuation lines, or a paragraph. */
export interface Note {
  /** First line, from 1. */
  readonly line: number;
  /** Text on one line, without the list mark. */
  readonly text: string;
  /** Heading above it; empty without one. */
  readonly heading: string;
}

/** A longer note is split, so that none takes long to process. */
const MAX_NOTE_CHARS = 4_096;

const HEADING = /^ {0,3}#{1,6}(?:[ \t]+(.*))?$/s;
const ITEM = /^([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+(.*)$/s;
/** A line that Markdown does not show. */
const COMMENT = /^\s*<!--.*-->\s*$/s;
/** Heading of an entry of the day's notes, which has a time and a session but nothing to search for. */
const ENTRY_HEADING = /^\d{4}-\d{2}-\d{2}T/;

/** White space other than a single space. */
const SPACES = /[^\S ]\s*| \s+/g;

/** Splits a Markdown file into notes, line by line. */
export class NoteReader {
  #heading = "";
  /** A heading without notes so far. */
  #bareHeading: Note | null = null;
  #line = 0;
  #lastLine = 0;
  #indent = -1;
  #chars = 0;
  #parts: string[] = [];

  /** Reads a line and returns the notes that it ends. A line may come in pieces, each with the same number. */
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

  /** Returns the notes that are open at the end of the file. */
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
    // The heading itself may be the fact.
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

/** Returns all notes of a short text. */
export function notesIn(text: string): Note[] {
  const reader = new NoteReader();
  const notes = text.split("\n").flatMap((line, index) => reader.push(line, index + 1));
  return [...notes, ...reader.end()];
}

function oneLine(text: string): string {
  return text.replace(SPACES, " ").trim();
}
