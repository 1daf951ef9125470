import { useCallback, useEffect, useRef, useState } from "react";
import { listSessions, remove, rename, type SessionEntry } from "./api.js";
import { forget } from "./outbox.js";

/** Pause between two looks at the list, for what other tabs and devices did. */
const REFRESH_MS = 5_000;

/** Sessions of the user. */
export interface Sessions {
  readonly list: readonly SessionEntry[];
  refresh(): void;
  /** Keeps the order while someone points at the list: nothing moves away under the pointer. */
  hold(isHeld: boolean): void;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Keeps the list of sessions up to date. */
export function useSessions(): Sessions {
  const [list, setList] = useState<readonly SessionEntry[]>([]);
  /** Number of the last request, and of the one whose answer is shown: an answer that comes late does not undo a newer one. */
  const asked = useRef(0);
  const shown = useRef(0);
  const isHeld = useRef(false);
  const refresh = useCallback(async (): Promise<void> => {
    const turn = ++asked.current;
    // Without a connection the list stays as it is.
    const found = await listSessions().catch(() => null);
    if (!found || turn < shown.current) return;
    shown.current = turn;
    setList((before) => (isHeld.current ? inOrderOf(before, found) : found));
  }, []);
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [refresh]);
  return {
    list,
    refresh,
    hold(is) {
      isHeld.current = is;
      if (!is) void refresh();
    },
    async rename(id, title) {
      await rename(id, title);
      await refresh();
    },
    async remove(id) {
      await remove(id);
      forget(id);
      // Answers to what was asked before still have the session.
      shown.current = ++asked.current;
      setList((all) => all.filter((session) => session.id !== id));
    },
  };
}

/** Returns sessions in the order of an earlier list; new ones come first. */
function inOrderOf(
  before: readonly SessionEntry[],
  sessions: readonly SessionEntry[],
): readonly SessionEntry[] {
  const places = new Map(before.map(({ id }, place) => [id, place]));
  const place = ({ id }: SessionEntry): number => places.get(id) ?? -1;
  return [...sessions].sort((a, b) => place(a) - place(b));
}
