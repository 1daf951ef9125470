import { asBytesOrNone, asNumber, asNumberOrZero } from "../connection/cells.js";
import type { Transaction } from "../connection/database.js";
import type { Tables } from "../keys.js";
import { entryStart, entryTexts } from "../state/entry-list.js";
import { isInputText } from "./inbox-column.js";

/** Removes entries in a transaction, by reading the inbox, and says of the slot whether it is unfinished. */
export async function removeEntries(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  ids: readonly string[],
): Promise<void> {
  const { slots, inbox } = tables;
  const [row] = await tx.read(
    `SELECT inbox, run_open, unfinished FROM ${slots} WHERE k = ? FOR UPDATE`,
    [k],
  );
  if (row === undefined) return;
  // Not locked: there is no other way to it than by the slot's row.
  const [first] = await tx.read(`SELECT body, n FROM ${inbox} WHERE k = ?`, [k]);
  const [list, runOpen, unfinished] = row;
  const texts = entryTexts(asBytesOrNone(list));
  const firsts = entryTexts(asBytesOrNone(first?.[0]));
  const starts = ids.map((id) =>
    Buffer.from(entryStart("id", id), "hex").toString("utf8").slice(1),
  );
  const stays = (text: string): boolean => !starts.some((start) => text.startsWith(start));
  const [left, firstLeft] = [texts.filter(stays), firsts.filter(stays)];
  if (first !== undefined && firstLeft.length === 0)
    await tx.write(`DELETE FROM ${inbox} WHERE k = ? AND n = ?`, [k, asNumber(first[1])]);
  const hasInput = [...left, ...firstLeft].some(isInputText);
  const isOpen = hasInput || asNumber(runOpen) === 1 ? 1 : 0;
  if (left.length === texts.length && isOpen === asNumberOrZero(unfinished)) return;
  const rest = left.map((text) => `\n${text}`).join("");
  await tx.write(`UPDATE ${slots} SET inbox = ?, unfinished = ? WHERE k = ?`, [
    ...[rest === "" ? null : Buffer.from(rest, "utf8"), isOpen, k],
  ]);
}
