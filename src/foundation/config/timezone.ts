/** Whether it is an IANA name; the offsets that Intl takes too, such as `+02:00`, are none. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The machine's IANA time zone; UTC where the machine's own setting is none. */
export function machineTimezone(): string {
  const { timeZone } = new Intl.DateTimeFormat("en").resolvedOptions();
  return isTimezone(timeZone) ? timeZone : "UTC";
}
