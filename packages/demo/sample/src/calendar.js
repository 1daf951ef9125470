/** First and last day of the winter break, month and day; the break goes over the end of the year. */
const winterBreak = { from: "12-20", to: "01-06" };

/** Whether ferries run on a day, given as `YYYY-MM-DD`. */
export function isServiceDay(date) {
  const day = date.slice(5);
  return !(day >= winterBreak.from || day <= winterBreak.to);
}

/** Whether a day is a Saturday or a Sunday. */
export function isWeekend(date) {
  const day = new Date(`${date}T00:00:00Z`).getUTCDay();
  return day === 0 || day === 6;
}

/** The next day with a service, the given one included. */
export function nextServiceDay(date) {
  const day = new Date(`${date}T00:00:00Z`);
  while (!isServiceDay(day.toISOString().slice(0, 10))) day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}
