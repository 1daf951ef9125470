/** A long reply, for watching it being written. */
export const mooringGuide = `# Mooring at the North pier

A berth is easiest to find when **nothing has to be decided on the way in**. Most of what goes wrong was left undone ten minutes earlier, so this guide is mostly about those ten minutes.

## Before you come in

1. Put fenders out on *both* sides: the berth that was promised may be taken.
2. Lay a bow line and a stern line outside the rails, free to run.
3. Agree who steps ashore, and that nobody jumps.
4. Call the desk:

\`\`\`text
Harbour desk, harbour desk, this is Heron.
Nine metres, two persons, one night.
Which berth, and from where is the wind? Over.
\`\`\`

## Which side to choose

| wind            | come in           | first line |
| --------------- | ----------------- | ---------- |
| off the pier    | steeply, with way | bow        |
| onto the pier   | parallel, stopped | none       |
| from ahead      | slowly            | bow        |
| from astern     | very slowly       | stern      |

With wind **onto** the pier the boat arrives by itself. Stop a metre off, parallel, and let it come. With wind **off** the pier you have one attempt: if the bow line is not fast when the bow begins to fall away, go round and try again. *Going round again is good seamanship.*

## The lines

- The **bow line** keeps the bow in.
- The **stern line** keeps the stern in.
- The **springs** keep the boat from moving along the pier; the forward one is the first to hold and the last to let go.

> Lines are made fast on the pier and trimmed on board, never the other way round: the one on board can let go in a hurry.

## When the tide falls

The range at the North pier is a little over three metres. A line that is tight at high water carries the boat at low water, so leave slack and lead the lines far fore and aft: a long line changes its angle, a short one breaks. Look again **after an hour**, when you know how fast it falls.

## Before you leave

1. Start the engine, and look whether water comes out with the exhaust.
2. Take in what is not under load; what is under load goes last.
3. Tell the desk that the berth is free.

That is all. Fair winds, and a dry pair of socks.
`;
