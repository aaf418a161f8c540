import { parseArgs } from "node:util";
import { slower, writeFigures } from "./baseline.ts";
import { compareWith } from "./compare.ts";
import type { Figure, Measure } from "./figure.ts";
import { egress } from "./measures/egress.ts";
import { firstRequest } from "./measures/first-request.ts";
import { ingest } from "./measures/ingest.ts";
import { modelGateway } from "./measures/model-gateway.ts";
import { reload } from "./measures/reload.ts";
import { runs } from "./measures/runs.ts";
import { search } from "./measures/search.ts";
import { startUp } from "./measures/start-up.ts";
import { status } from "./measures/status.ts";
import { table } from "./report.ts";

const measures: readonly Measure[] = [
  startUp,
  ingest,
  reload,
  status,
  runs,
  firstRequest,
  search,
  modelGateway,
  egress,
];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    repeats: { type: "string", default: "3" },
    json: { type: "string" },
    compare: { type: "string" },
  },
});
const { json } = values;
const repeats = Number(values.repeats);
if (!(repeats >= 1)) fail(`--repeats is a number from 1, not ${values.repeats}`);
const names = measures.map(({ name }) => name);
const wanted = values.only?.split(",") ?? names;
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) fail(`there is no measure "${unknown.join()}"; there are: ${names.join()}`);
if (values.compare !== undefined) {
  const compared = compareWith(values.compare, { measures: wanted, rounds: repeats });
  process.stdout.write(`${table(compared.before)}\n\n${table(compared.now)}\n`);
  const worse = slower(compared.now, compared.before);
  say(worse.length === 0 ? "nothing got slower" : worse.join("\n"));
  process.exit(worse.length === 0 ? 0 : 1);
}

const figures: Figure[] = [];
const failed: string[] = [];
for (const { name, run } of measures.filter(({ name }) => wanted.includes(name))) {
  const began = performance.now();
  say(`measuring ${name} …`);
  try {
    figures.push(...(await run({ repeats })));
  } catch (error) {
    failed.push(name);
    say(`FAILED: ${name}: ${error instanceof Error ? (error.stack ?? error.message) : "?"}`);
  }
  say(`${name} took ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

process.stdout.write(`${table(figures)}\n`);
if (json !== undefined) writeFigures(figures, json);
if (failed.length > 0) {
  say(`could not be measured: ${failed.join(", ")}`);
  process.exitCode = 1;
}

function fail(text: string): never {
  say(text);
  process.exit(2);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
