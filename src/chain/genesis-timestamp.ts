import { err, ok, type Result } from "../base/result.ts";

export type TimestampError = {
  readonly code: "GENESIS_TIMESTAMP_MALFORMED" | "GENESIS_TIMESTAMP_NOT_A_DATE";
  readonly text: string;
};

const FORM = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365] as const;
const YEAR_MIN = 1970;

/** Seconds since 1970 of `YYYY-MM-DD hh:mm:ss`, UTC, 24-hour; anything else is refused. */
export function parseTimestamp(text: string): Result<bigint, TimestampError> {
  const match = FORM.exec(text);
  if (match === null) return err({ code: "GENESIS_TIMESTAMP_MALFORMED", text });
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map(Number);
  const isDate = year >= YEAR_MIN && month >= 1 && month <= 12 && day >= 1;
  const isTime = hour <= 23 && minute <= 59 && second <= 59;
  if (!isDate || !isTime || day > daysInMonth(year, month)) {
    return err({ code: "GENESIS_TIMESTAMP_NOT_A_DATE", text });
  }
  const days = daysBeforeYear(year) + daysBeforeMonth(year, month) + day - 1;
  return ok(BigInt(days) * 86_400n + BigInt(hour * 3600 + minute * 60 + second));
}

function daysInMonth(year: number, month: number): number {
  return daysBeforeMonth(year, month + 1) - daysBeforeMonth(year, month);
}

/** Months are 1 .. 12; 13 gives the length of the year. */
function daysBeforeMonth(year: number, month: number): number {
  const leapDay = month > 2 && isLeap(year) ? 1 : 0;
  return (DAYS_BEFORE_MONTH[month - 1] ?? 0) + leapDay;
}

/** Days from 1970-01-01 to the first day of the year. */
function daysBeforeYear(year: number): number {
  return 365 * (year - YEAR_MIN) + leapDaysBefore(year) - leapDaysBefore(YEAR_MIN);
}

function leapDaysBefore(year: number): number {
  const last = year - 1;
  return Math.floor(last / 4) - Math.floor(last / 100) + Math.floor(last / 400);
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
