import { InvalidArgumentError } from "commander";
import { providers } from "../../../streams/agent-config.ts";

/** Who serves the model of a new project: a provider, or your own server without a key. */
export const starterProviders = [...providers, "local"] as const;
export type StarterProvider = (typeof starterProviders)[number];

/** Parses an option's whole number within bounds; a usage error otherwise. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a moment: `90s`, `10m`, `1h30m`, `3d` ago, or an ISO 8601 date or date-time. Epoch ms. */
export function moment(text: string): number {
  return momentAt(text, -1);
}

/** Like `moment`, with durations from now on. */
export function momentAhead(text: string): number {
  return momentAt(text, 1);
}

function momentAt(text: string, sign: 1 | -1): number {
  if (/^(\d+[smhd])+$/.test(text)) {
    const parts = [...text.matchAll(/(?<!\d)(\d+)(\w)/g)];
    return parts.reduce(
      (at, part) => at + sign * Number(part[1]) * (units[part[2] ?? ""] ?? 0),
      Date.now(),
    );
  }
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new InvalidArgumentError('Give a length such as "10m" or "1h30m", or a date-time.');
}

/** A moment for queries. There is an earliest date, and nothing is stored from before 1970. */
export function queryTime(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(Math.max(0, at)).toISOString();
}

/** Gathers an option that may be given several times. */
export function severalTexts(text: string, before: readonly string[]): string[] {
  return [...before, text];
}
