/**
 * The two forms of `logtime` that the pipeline takes (SPEC L3), read as the original pipeline's
 * date filter reads them: numbers may have fewer digits than the pattern, the zone is an offset
 * with or without a colon, and a time without a zone is UTC.
 */

/** `yyyy-MM-dd'T'HH:mm:ss','SSS','Z` */
const WITH_ZONE = new RegExp(
  "^(\\d{1,9})-(\\d{1,2})-(\\d{1,2})T(\\d{1,2}):(\\d{1,2}):(\\d{1,2}),(\\d{1,3})," +
    "([+-])(\\d{2})(?::?(\\d{2}))?$",
);
/** `yyyy-MM-dd HH:mm:ss','SSS` */
const WITHOUT_ZONE = /^(\d{1,9})-(\d{1,2})-(\d{1,2}) (\d{1,2}):(\d{1,2}):(\d{1,2}),(\d{1,3})$/;

const MINUTE_MS = 60_000;
/** The last moment that an ISO text of four year digits can name. */
const TIME_MAX_MS = 253_402_300_799_999;

/** Milliseconds since 1970, or undefined where neither form fits. */
export function parseLogtime(text: string): number | undefined {
  const zoned = WITH_ZONE.exec(text);
  if (zoned !== null) {
    const offsetMs = parseOffset(zoned[8], Number(zoned[9]), Number(zoned[10] ?? "0"));
    const localMs = parseLocal(zoned);
    return localMs === undefined || offsetMs === undefined ? undefined : localMs - offsetMs;
  }
  const plain = WITHOUT_ZONE.exec(text);
  return plain === null ? undefined : parseLocal(plain);
}

function parseLocal(match: RegExpExecArray): number | undefined {
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const timeMs = Date.UTC(0, 0, 1);
  const date = new Date(timeMs);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day ?? 0);
  // A day that the month does not have rolls over: then the text names no day.
  if (date.getUTCMonth() !== (month ?? 0) - 1 || date.getUTCDate() !== day) return undefined;
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) return undefined;
  // A fraction: `5` is half a second.
  const millisecond = Number((match[7] ?? "").padEnd(3, "0"));
  const result = date.setUTCHours(hour ?? 0, minute, second, millisecond);
  return Number.isNaN(result) || result > TIME_MAX_MS ? undefined : result;
}

function parseOffset(sign: string | undefined, hour: number, minute: number): number | undefined {
  if (hour > 23 || minute > 59) return undefined;
  const offsetMs = (hour * 60 + minute) * MINUTE_MS;
  return sign === "-" ? -offsetMs : offsetMs;
}
