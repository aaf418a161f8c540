import type { Mask } from "./config-key.ts";

/** The same names, each with a masked value. */
export function maskValues(
  values: Readonly<Record<string, string>>,
  mask: Mask,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, mask(value)]));
}

/** An address without the name and the password that may stand in it. */
export function maskUserInfo(address: string, mask: Mask): string {
  return address.replace(/(?<=:\/\/)[^/@]+(?=@)/, mask);
}
