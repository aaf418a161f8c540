import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Figure, Measure } from "./figure.ts";
import { firstRequest } from "./measures/first-request.ts";
import { history } from "./measures/history.ts";
import { ingest } from "./measures/ingest.ts";
import { changes } from "./measures/changes.ts";
import { soak } from "./measures/soak.ts";
import { startUp } from "./measures/start-up.ts";
import { compared, table } from "./report.ts";

const measures: readonly Measure[] = [startUp, ingest, changes, firstRequest, history, soak];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    repeats: { type: "string", default: "3" },
    minutes: { type: "string", default: "1" },
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    baseline: { type: "string" },
  },
});

const chosen = measures.filter(({ name }) => values.only === undefined || values.only === name);
if (chosen.length === 0) {
  const names = measures.map(({ name }) => name).join(", ");
  process.stderr.write(`there is no measure "${values.only ?? ""}"; there are: ${names}\n`);
  process.exit(2);
}

const figures: Figure[] = [];
for (const { name, run } of chosen) {
  process.stderr.write(`measuring ${name} …\n`);
  const [repeats, minutes] = [Number(values.repeats), Number(values.minutes)];
  figures.push(...(await run({ repeats, minutes, quick: values.quick })));
}
process.stdout.write(`${table(figures)}\n`);
if (values.baseline !== undefined) process.stdout.write(`${compared(figures, values.baseline)}\n`);
if (values.json !== undefined) {
  const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? null, node: process.version };
  writeFileSync(values.json, `${JSON.stringify({ machine, figures }, null, 2)}\n`);
}
