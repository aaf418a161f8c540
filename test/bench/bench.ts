import { parseArgs } from "node:util";
import { readFigures, slower, writeFigures } from "./baseline.ts";
import { compareWith, comparisonTable } from "./compare.ts";
import type { Figure, Measure } from "./figure.ts";
import { answers } from "./measures/answers.ts";
import { containers } from "./measures/containers.ts";
import { costlyTexts } from "./measures/costly-texts.ts";
import { cron } from "./measures/cron.ts";
import { egress } from "./measures/egress.ts";
import { firstRequest } from "./measures/first-request.ts";
import { history } from "./measures/history.ts";
import { hostileRuns } from "./measures/hostile-runs.ts";
import { ingest } from "./measures/ingest.ts";
import { modelGateway } from "./measures/model-gateway.ts";
import { reload } from "./measures/reload.ts";
import { runs } from "./measures/runs.ts";
import { search } from "./measures/search.ts";
import { soak } from "./measures/soak.ts";
import { startUp } from "./measures/start-up.ts";
import { status } from "./measures/status.ts";
import { strangers } from "./measures/strangers.ts";
import { telemetry } from "./measures/telemetry.ts";
import { table } from "./report.ts";

const short = [
  startUp,
  ingest,
  answers,
  reload,
  status,
  runs,
  firstRequest,
  containers,
  cron,
  history,
  search,
  modelGateway,
  egress,
  strangers,
  hostileRuns,
  costlyTexts,
];
/** Measured when it is asked for. */
const long = [soak, telemetry];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    repeats: { type: "string", default: "3" },
    minutes: { type: "string", default: "1" },
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    baseline: { type: "string" },
    compare: { type: "string" },
  },
});

const chosen = chosenMeasures(values.only?.split(",") ?? short.map(({ name }) => name));
const [repeats, minutes] = [Number(values.repeats), Number(values.minutes)];
if (!(repeats >= 1)) {
  say(`--repeats is a number from 1, not ${values.repeats}`);
  process.exit(2);
}
if (values.compare !== undefined) compare(values.compare);
// Before anything is measured: a baseline that can't be read is known at once, and may be the file that is written.
const before = values.baseline === undefined ? null : readFigures(values.baseline);
const figures: Figure[] = [];
const failed: string[] = [];
for (const { name, run } of chosen) {
  const began = performance.now();
  say(`measuring ${name} …`);
  try {
    figures.push(...(await run({ repeats, minutes, quick: values.quick })));
  } catch (error) {
    failed.push(name);
    say(`FAILED: ${name}: ${error instanceof Error ? (error.stack ?? error.message) : "?"}`);
  }
  say(`${name} took ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

process.stdout.write(`${table(figures)}\n`);
const worse = before === null ? [] : slower(figures, before);
if (before !== null) say(worse.length === 0 ? "nothing got slower" : worse.join("\n"));
if (values.json !== undefined) writeFigures(figures, values.json);
if (failed.length > 0) say(`could not be measured: ${failed.join(", ")}`);
if (failed.length > 0 || worse.length > 0) process.exitCode = 1;

/** Prints the figures of a commit beside those of this checkout, and ends. */
function compare(commit: string): never {
  const measures = chosen.map(({ name }) => name);
  const compared = compareWith(commit, { measures, rounds: repeats, quick: values.quick });
  process.stdout.write(`${comparisonTable(compared)}\n`);
  const worse = slower(compared.now, compared.before);
  say(worse.length === 0 ? "nothing got slower" : worse.join("\n"));
  process.exit(worse.length === 0 ? 0 : 1);
}

function chosenMeasures(wanted: readonly string[]): readonly Measure[] {
  const all: readonly Measure[] = [...short, ...long];
  const unknown = wanted.filter((one) => !all.some(({ name }) => name === one));
  if (unknown.length === 0) return all.filter(({ name }) => wanted.includes(name));
  const names = all.map(({ name }) => name).join(", ");
  say(`there is no measure "${unknown.join(", ")}"; there are: ${names}`);
  process.exit(2);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
