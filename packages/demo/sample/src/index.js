export { announce, changedAnnouncements } from "./announcements.js";
export { Bookings } from "./bookings.js";
export { isServiceDay, nextServiceDay } from "./calendar.js";
export { formatTime, parseTime } from "./clock.js";
export { formatEuros, partyFare } from "./fares.js";
export { eveningReport } from "./report.js";
export { printTicket, sellTicket } from "./tickets.js";
export { boardLine, nextDepartures } from "./timetable.js";
