import fc from "fast-check";
import { parse } from "smol-toml";
import {
  hiddenLines,
  refuseBaring,
  shownText,
  withHidden,
} from "../../../src/runtime/agents/hidden-lines.ts";

const url = "HTTPS://hc-ping.com/5f6e1f0a";
const before = `models = ["main"]\n[heartbeat]\nurl = "${url}"\n`;
const same = (text: string): string => text;

function edited(text: string): string {
  const after = withHidden(text, hiddenLines(before, "config.toml", same), "config.toml");
  refuseBaring(before, after, same);
  return after;
}

const tables = [
  "heartbeat",
  '"heartbeat"',
  "params",
  "local.env",
  "params.heartbeat",
  "heartbeat.x",
];
const header = fc.oneof(
  fc.constantFrom(...tables).map((name) => `[${name}]`),
  fc.constant("[[heartbeat]]"),
);
const key = fc.constantFrom("x", "params.x", '"a b"."heartbeat"', "heartbeat", "heartbeat.url");
const value = fc.constantFrom(
  ["'''", "'''"],
  ['"""', '"""'],
  ["['''", "''']"],
  ["[{ x = '''", "''' }]"],
  ["{", "}"],
);
const around = fc
  .tuple(key, value)
  .map(([name, [open = "", close = ""]]) => [`${name} = ${open}`, close] as const);

test("an edit leaves the address of a heartbeat at its own key or is refused, however the text is written", () => {
  const some = fc.array(header, { maxLength: 2 });
  fc.assert(
    fc.property(some, fc.option(around), some, (outer, wrapped, inner) => {
      const [open, close] = wrapped ?? ["", ""];
      const lines = [...outer, open, ...inner, 'url = "[redacted]"', close];
      let after: unknown;
      try {
        const text = edited(lines.join("\n"));
        expect(shownText(text, "config.toml", same)).not.toContain(url);
        after = parse(text);
      } catch (error) {
        // Refused; or no config, which no page shows.
        if (error instanceof Error && /would be shown|Invalid TOML/.test(error.message)) return;
        throw error;
      }
      const { heartbeat, ...rest } = after as { heartbeat: { url: unknown } };
      const { url: own, ...others } = heartbeat;
      expect(own).toBe(url);
      expect(JSON.stringify([rest, others])).not.toContain(url);
    }),
    { numRuns: 2_000 },
  );
});
