/**
 * `Retry-After` in ms from `now` on: seconds, or a date (RFC 9110, 10.2.3); null when there is none or it can't be read.
 */
export function retryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,12}(\.\d+)?$/.test(value.trim())) return Math.ceil(Number(value) * 1000);
  // Date.parse takes many a text that is no date of HTTP, such as "-1".
  const date = /^[A-Z][a-z]+,? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
