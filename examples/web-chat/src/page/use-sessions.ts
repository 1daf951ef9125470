import { useCallback, useEffect, useState } from "react";
import { listSessions, remove, rename, type SessionEntry } from "./api.js";
import { forget } from "./outbox.js";

/** Pause between two looks at the list, for what other tabs and devices did. */
const REFRESH_MS = 5_000;

/** Sessions of the user. */
export interface Sessions {
  readonly list: readonly SessionEntry[];
  refresh(): void;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Keeps the list of sessions up to date. */
export function useSessions(): Sessions {
  const [list, setList] = useState<readonly SessionEntry[]>([]);
  const refresh = useCallback(async (): Promise<void> => {
    // Without a connection the list stays as it is.
    const found = await listSessions().catch(() => null);
    if (found) setList(found);
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
    async rename(id, title) {
      await rename(id, title);
      await refresh();
    },
    async remove(id) {
      await remove(id);
      forget(id);
      // Not waited for: a page that shows this session leaves it before the list changes under the reader.
      void refresh();
    },
  };
}
