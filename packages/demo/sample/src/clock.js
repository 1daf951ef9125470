/** Minutes of a day. */
export const minutesPerDay = 24 * 60;

/** Reads `HH:MM` as minutes after midnight. */
export function parseTime(text) {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  const time = Number(hours) * 60 + Number(minutes);
  if (!(time < minutesPerDay) || Number(minutes) > 59)
    throw new RangeError(`no time of day: ${text}`);
  return time;
}

/** Writes minutes after midnight as `HH:MM`. */
export function formatTime(time) {
  const minute = ((time % minutesPerDay) + minutesPerDay) % minutesPerDay;
  const pad = (value) => String(value).padStart(2, "0");
  return `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`;
}

/** How long from one time to the next occurrence of another. */
export function minutesUntil(now, then) {
  return (then - now + minutesPerDay) % minutesPerDay;
}
