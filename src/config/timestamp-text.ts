const SECONDS_PER_DAY = 86_400;

/** `YYYY-MM-DD hh:mm:ss` in UTC, as parseTimestamp reads it. */
export function timestampToText(seconds: bigint): string {
  const days = Number(seconds / BigInt(SECONDS_PER_DAY));
  const second = Number(seconds % BigInt(SECONDS_PER_DAY));
  const { year, month, day } = dateOf(days);
  const time = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60];
  const date = `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
  return `${date} ${time.map(twoDigits).join(":")}`;
}

/** Years begin in March here, so that the leap day is the last of one; eras have 400 years. */
function dateOf(daysSince1970: number): { year: number; month: number; day: number } {
  const days = daysSince1970 + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
