import { expect, test } from "vitest";
import { NoteReader, notesIn } from "../../src/search/note-reader.js";

function shown(text: string): string[] {
  return notesIn(text).map((note) => `${note.line} [${note.heading}] ${note.text}`);
}

test("a note is a list item with what belongs to it, or a paragraph, under its heading", () => {
  const text = `Before any heading.

# Top #
## Travel
- window seat
  on long flights
  - also on trains
- vegetarian
Some people
call it veggie.

1. first
2) second
* star
• dot

A paragraph
of two lines.
###### Deep
end`;
  expect(shown(text)).toEqual([
    "1 [] Before any heading.",
    "3 [] Top",
    "5 [Travel] window seat on long flights also on trains",
    "8 [Travel] vegetarian Some people call it veggie.",
    "12 [Travel] first",
    "13 [Travel] second",
    "14 [Travel] star",
    "15 [Travel] dot",
    "17 [Travel] A paragraph of two lines.",
    "20 [Deep] end",
  ]);
});

test("what only looks like a heading or an item is text", () => {
  expect(shown("#hashtag\n\n-5 degrees\n\n**bold**\n\n    # code")).toEqual([
    "1 [] #hashtag",
    "3 [] -5 degrees",
    "5 [] **bold**",
    "7 [] # code",
  ]);
});

test("headings of entries and comments are no notes", () => {
  const text = `## 2026-03-04T09:00:00.000Z session "a"

- fact
<!-- flush 01890000-0000-7000-8000-000000000000 -->

## 2026-03-04T10:00:00.000Z session "b"
`;
  expect(shown(text)).toEqual(["3 [] fact"]);
});

test("lines that end in CR LF, or hold what looks like a line end, are as others", () => {
  expect(shown("# A\r\n\r\n- one\r\n- two\u2028three\r\n")).toEqual([
    "3 [A] one",
    "4 [A] two three",
  ]);
});

test("a very long note is several", () => {
  const notes = notesIn(`- ${"word ".repeat(900)}\n${"more ".repeat(10)}\n`);
  expect(notes.map(({ line }) => line)).toEqual([1, 2]);
});

test("a line that comes in pieces is one, whatever the pieces look like", () => {
  const reader = new NoteReader();
  const notes = [
    ...reader.push("- a line", 7),
    ...reader.push("# in pieces", 7),
    ...reader.push("- and more", 7),
    ...reader.end(),
  ];
  expect(notes).toEqual([{ line: 7, text: "a line # in pieces - and more", heading: "" }]);
});
