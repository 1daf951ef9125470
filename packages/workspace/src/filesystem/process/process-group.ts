const living = new Set<number>();

/** Remembers a process group that this process started, so that it does not outlive it. */
export function watchGroup(leader: number): void {
  if (living.size === 0) process.on("exit", endAll);
  living.add(leader);
}

/**
 * Ends every process of a group at once. Only for a leader that this process started and that was not waited for before
 * this turn of the event loop: later its id may name another group.
 */
export function endGroup(leader: number): void {
  living.delete(leader);
  if (living.size === 0) process.off("exit", endAll);
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}

function endAll(): void {
  for (const leader of [...living]) endGroup(leader);
}
