import fc from "fast-check";
import { plainText } from "../../../src/foundation/contracts/plain-text.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { formatLine } from "../../../src/foundation/logs/line-queue.ts";
import { runOutput } from "../../../src/runtime/runners/run-output.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { entriesOf } from "./contract.ts";
import { aRequest } from "./shell-runs.ts";
import { encoders, secretText } from "../../helpers/encoders.ts";

const bytes = (text: string) => Buffer.from(text);
const encoded = fc
  .tuple(secretText, fc.constantFrom(...Object.keys(encoders)))
  .map(([secret, name]) => ({ secret, form: encoders[name]?.(secret) ?? "" }));
const inserted = fc.constantFrom(
  "",
  "\u001b[0m",
  "\u001b[1;31m\u001b[K",
  "\u001b]8;;http://x\u0007",
  "\u001b(B",
  "\u009b1m",
  ...Array.from("\u001b\u0000\u0007\b\u007f\u0085\u200b\u00ad\u202e\ufeff\u2060\u{e0041}"),
);
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const at = (text: string, share: number) => 1 + Math.floor(share * (text.length - 1));

/** Everything that goes on from a run's output. */
function report(secret: string) {
  const redactor = createRedactor();
  redactor.add([secret]);
  const events: RunnerEvent[] = [];
  const output = runOutput({
    request: aRequest("dev"),
    redact: redactor.redact,
    emit: (event) => events.push(event),
    onCooldown: () => undefined,
  });
  const lines = () =>
    entriesOf(events).map((entry) => JSON.parse(formatLine(entry)) as { msg: string });
  return { output, events, lines };
}

/** The characters of a text that a reader sees, without ends of lines. */
const shown = (text: string) =>
  plainText(text).replaceAll(/\s|\p{Default_Ignorable_Code_Point}/gu, "");
const leaves = (value: unknown): string[] =>
  typeof value !== "object" || value === null
    ? [String(value)]
    : Object.entries(value).flatMap(([key, inner]) => [key, ...leaves(inner)]);
const shows = (value: unknown, form: string) =>
  leaves(value).some((text) => shown(text).includes(shown(form)));

const logged = (kind: string, msg: string, more: object = {}) =>
  JSON.stringify({ type: "log", level: 30, time: 1, kind, msg, ...more });

test("no output of a run shows any form of a secret", () => {
  const chunks = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(encoded, inserted, place, chunks, ({ secret, form }, code, share, chunk) => {
      const { output, events, lines } = report(secret);
      const split = at(form, share);
      const text = `it is ${form.slice(0, split)}${code}${form.slice(split)} indeed`;
      const usage = { model: text, tokens: null, costUsd: null, turns: null };
      const written = [
        text,
        logged("tool-result", text, { fields: { [text]: [text] } }),
        logged(text, "said"),
        JSON.stringify({ type: "status", text }),
        JSON.stringify({ type: "return", json: JSON.stringify({ [text]: text }), more: false }),
        JSON.stringify({ type: "end", error: text, usage }),
      ];
      const raw = bytes(`${written.join("\n")}\n`);
      for (let from = 0; from < raw.length; from += chunk)
        output.stdout.push(raw.subarray(from, from + chunk));
      expect(events).toHaveLength(4);
      expect(output.handedBack()).toHaveProperty("value");
      expect(shows([events, lines(), output.end(), output.handedBack()], form)).toBe(false);
    }),
    { numRuns: 1_500 },
  );
}, 120_000);

test("output that is cut inside a secret shows fewer than six characters of the secret", () => {
  const limits = fc.constantFrom(8192, 32 * 1024);
  const padding = fc.constantFrom("c", "\u001b[0m", "\u00e9");
  fc.assert(
    fc.property(encoded, limits, padding, place, ({ secret, form }, limit, pad, share) => {
      const { output, lines } = report(secret);
      const room = limit - at(form, share);
      const before = pad.repeat(Math.floor(room / bytes(pad).length));
      const padded = before.padStart(before.length + room - bytes(before).length, "c");
      output.stdout.push(bytes(`${padded}${form} indeed\n`));
      expect(shows(lines(), form.slice(0, 6))).toBe(false);
    }),
    {
      numRuns: 300,
      // The cut divides a character of the secret.
      examples: [[{ secret: "k9ZéAééQ4x", form: "k9ZéAééQ4x" }, 32 * 1024, "\u001b[0m", 8 / 9]],
    },
  );
});

test("a secret that is split over lines shows less than half of itself, or less than six characters", () => {
  fc.assert(
    fc.property(
      encoded,
      place,
      place,
      fc.boolean(),
      ({ secret, form }, first, second, isOneText) => {
        const { output, lines } = report(secret);
        const [from = 1, to = 1] = [at(form, first), at(form, second)].sort((a, b) => a - b);
        const text = `${form.slice(0, from)}\n${form.slice(from, to)}\n${form.slice(to)}\n`;
        output.stdout.push(bytes(isOneText ? `${logged("said", text)}\n` : text));
        const all = lines()
          .map(({ msg }) => msg)
          .join("");
        const whole = shown(form);
        const half = Math.max(6, Math.ceil(whole.length / 2));
        expect(shows(all, whole.slice(0, half))).toBe(false);
        expect(shows(all, whole.slice(-half))).toBe(false);
      },
    ),
    { numRuns: 1_000 },
  );
}, 120_000);
