/**
 * Makes the pictures of examples/gallery: starts the built program on a project made from examples/hello, gives it
 * something to do, and photographs each page in light and dark.
 *
 *   npm run setup -- tests && node examples/screenshots.mjs
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { openBrowser } from "../test/helpers/browser.ts";
import { makeProject } from "./gallery/project.mjs";

const root = resolve(import.meta.dirname, "..");
const gallery = join(import.meta.dirname, "gallery");
const folder = mkdtempSync(join(tmpdir(), "al-gallery-"));
const project = join(folder, "acme");
const maxBytes = 165 * 1024;
const hourMs = 3_600_000;

async function startProgram() {
  const args = [join(root, "dist/src/cli/al.js"), "start", "--web-ui", "--headless", "--port", "0"];
  const env = { ...process.env, AL_HOME: join(folder, "home") };
  const child = spawn(process.execPath, [...args, "--project", project], { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const exited = new Promise((end) => child.on("exit", end));
  while (!/^API key: +\S+$/m.test(output)) {
    if (child.exitCode !== null) throw new Error(`the program ended:\n${output}`);
    await sleep(50);
  }
  const url = /^Dashboard: +(\S+)\/dashboard$/m.exec(output)?.[1] ?? "";
  const key = readFileSync(/^API key: +(\S+)$/m.exec(output)?.[1] ?? "", "utf8").trim();
  const post = async (path, body, headers = {}) => {
    const authorization = `Bearer ${key}`;
    const type = { "content-type": "application/json" };
    const init = { method: "POST", headers: { authorization, ...type, ...headers } };
    return (await fetch(url + path, { ...init, body: JSON.stringify(body ?? {}) })).json();
  };
  const settled = async () => {
    const headers = { authorization: `Bearer ${key}` };
    const isBusy = async () => {
      const { agents: all } = await (await fetch(`${url}/control/status`, { headers })).json();
      return all.some(({ running, queued }) => running + queued > 0);
    };
    do await sleep(500);
    while (await isBusy());
  };
  const stop = async () => {
    child.kill("SIGINT");
    await sleep(300);
    child.kill("SIGINT");
    await exited;
  };
  return { url, key, post, settled, stop };
}

const payload = JSON.parse(
  readFileSync(join(root, "examples/pull-request/issue-opened.json"), "utf8"),
);

function deliver(program, event, action) {
  const { repository, sender, issue } = payload;
  const subject = event === "issues" ? { issue } : { pull_request: { ...issue, number: 214 } };
  const body = { action, ...subject, repository, sender };
  return program.post("/webhooks/github", body, {
    "x-github-event": event,
    "x-github-delivery": crypto.randomUUID(),
  });
}

/** Real runs, of which the next step makes hours of history. */
async function makeRuns(program) {
  for (let round = 0; round < 4; round++) {
    for (const name of ["review", "hello", "changelog", "review", "hello"]) {
      await program.post(`/control/trigger/${name}`);
    }
    await deliver(program, "pull_request", "opened");
    if (round % 2 === 1) await program.post("/control/trigger/nightly-report");
    if (round === 2) await deliver(program, "issues", "opened");
    await program.settled();
  }
}

/** Runs of a few seconds within a minute would be one tick: they are spread over three days, and take minutes. */
function spreadOverDays() {
  const db = new DatabaseSync(join(project, ".al/state.db"));
  const rows = db.prepare("SELECT seq, started_at AS startedAt FROM triggers ORDER BY seq").all();
  const move = db.prepare("UPDATE triggers SET at = ?, started_at = ?, ended_at = ? WHERE seq = ?");
  rows.forEach(({ seq, startedAt }, index) => {
    const at = Math.round(Date.now() - 70 * hourMs * (1 - index / rows.length));
    const end = at + (7 + ((index * 13) % 31)) * 60_000;
    const [start, stop] =
      startedAt === null ? [null, null] : [at, Math.min(end, Date.now() - 60_000)];
    move.run(at, start, stop, seq);
  });
  db.close();
}

/** What was spent within minutes, as that of a month of work days. */
function spendOverDays() {
  const db = new DatabaseSync(join(project, ".al/state.db"));
  const calls = db.prepare("SELECT seq FROM model_calls ORDER BY seq").all();
  const move = db.prepare(
    "UPDATE model_calls SET at = ?, day = ?, nano_usd = nano_usd * ? WHERE seq = ?",
  );
  calls.forEach(({ seq }, index) => {
    const at = Date.now() - Math.floor((1 - index / calls.length) * 29) * 24 * hourMs;
    const day = new Date(at).toISOString().slice(0, 10);
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
    move.run(at, day, isWeekend ? 3 : 20 + ((index * 7) % 25), seq);
  });
  db.exec(`UPDATE spend SET nano = coalesce((SELECT sum(nano_usd) FROM model_calls
    WHERE day LIKE window || '%' AND (scope = 'project' OR scope = 'agent:' || model_calls.agent)), 0)
    WHERE scope = 'project' OR scope LIKE 'agent:%'`);
  db.close();
}

async function photograph(program) {
  const browser = await openBrowser();
  const shoot = async (page, name) => {
    const path = join(gallery, `${name}.png`);
    await page.screenshot({ path });
    const { size } = statSync(path);
    if (size > maxBytes) throw new Error(`${path} has ${size} bytes; at most ${maxBytes} please`);
    console.log(`${path}  ${Math.round(size / 1024)} KiB`);
  };
  const visit = async (scheme, viewport) => {
    const page = await (await browser.newContext({ colorScheme: scheme, viewport })).newPage();
    // A login by its page would leave for the scheduler's private host.
    await page.context().request.post(`${program.url}/login`, { data: { key: program.key } });
    await page.goto(`${program.url}/dashboard`);
    await page.waitForSelector("body[data-connection=live]");
    return page;
  };
  for (const scheme of ["light", "dark"]) {
    const page = await visit(scheme, { width: 1200, height: 800 });
    await page.waitForSelector("a.tick");
    await shoot(page, `overview-${scheme}`);
    await page.goto(`${program.url}/dashboard/agents/review`);
    await page.waitForSelector("#run-rows tr");
    await shoot(page, `agent-${scheme}`);
    await page.goto(`${program.url}/dashboard/agents/nightly-report/runs/latest`);
    await page.waitForSelector("#facts dd");
    await page.waitForSelector(".end-mark");
    await shoot(page, `run-${scheme}`);
    await page.goto(`${program.url}/dashboard/search?q=stream*`);
    await page.waitForSelector("main mark");
    await shoot(page, `search-${scheme}`);
    await page.goto(`${program.url}/dashboard/alerts`);
    await page.waitForSelector("#open tr");
    await shoot(page, `alerts-${scheme}`);
    await page.goto(`${program.url}/dashboard/triggers`);
    const delivery = page.locator("#trigger-rows tr", { hasText: "webhook" }).first();
    await delivery.getByRole("button", { name: /Details/ }).click();
    await page.waitForSelector("[aria-label=Payload]");
    await shoot(page, `triggers-${scheme}`);
    await page.goto(`${program.url}/dashboard/agents/review/logs`);
    await page.waitForSelector(".end-mark");
    await sleep(300);
    await shoot(page, `log-${scheme}`);
    await page.goto(`${program.url}/dashboard/cost`);
    await page.waitForSelector("#agents tr");
    await shoot(page, `cost-${scheme}`);
  }
  const phone = await visit("light", { width: 390, height: 800 });
  await phone.waitForSelector("tbody tr");
  await shoot(phone, "phone-light");
  await browser.close();
}

/** Leaves nothing running, whatever happens meanwhile. */
async function withProgram(use) {
  const program = await startProgram();
  try {
    await use(program);
  } finally {
    await program.stop();
  }
}

try {
  makeProject(project);
  await withProgram(makeRuns);
  spreadOverDays();
  spendOverDays();
  await withProgram(async (program) => {
    const broken = join(project, "agents/changelog/config.toml");
    const text = readFileSync(broken, "utf8");
    writeFileSync(broken, text.replace(/^schedule = .*$/m, 'schedule = "every morning"'));
    await program.post("/control/agents/triage/disable");
    for (let run = 0; run < 2; run++) await program.post("/control/trigger/deploy");
    // The run that is photographed has the times of its log.
    await program.post("/control/trigger/nightly-report");
    await deliver(program, "pull_request", "opened");
    await sleep(6_000);
    await photograph(program);
  });
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
